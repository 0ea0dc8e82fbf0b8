/** The one file that imports the MCP SDK; its neighbours take their types from here. Loaded at the first connection. */
export {
  Client,
  parseJSONRPCMessage,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
export type { ClientOptions, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
