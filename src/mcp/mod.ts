/** Door of the MCP client (core.md G): servers of the configuration and of sessions, their tools, their life. */
export type { LoginOptions, LoginResult } from "./login.ts";
export { createMcp, type Mcp, type McpDeps, type McpTestResult } from "./service.ts";
