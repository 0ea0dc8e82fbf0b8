/** The one file that imports the MCP SDK; its neighbours take their types from here. Loaded at the first connection. */
export {
  auth,
  Client,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  OAuthError,
  parseJSONRPCMessage,
  ProtocolError,
  refreshAuthorization,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
export type {
  AuthProvider,
  ClientOptions,
  CreateMessageResult as SamplingResult,
  JSONRPCMessage,
  OAuthClientProvider,
  OAuthDiscoveryState,
  Transport,
} from "@modelcontextprotocol/client";
