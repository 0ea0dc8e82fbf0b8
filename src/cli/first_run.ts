/**
 * What the compiled program loads once, when it runs for the first time on a machine: the ways to the first answer and
 * the first session of each door. The runtime keeps compiled code of what one first run has loaded and never adds to
 * it, so without this a `hermes --version` would leave every later start of a server to compile from text.
 *
 * One module with static imports on purpose: the runtime waits for the code of one graph, and never finishes when two
 * graphs that are loaded side by side share a file. Nothing here is used; each of these only has to be loaded.
 */
import "@/app/base.ts";
import "@/app/open.ts";
import "@/protocols/acp/methods.ts";
import "@/protocols/api/app.ts";
import "@/protocols/api/service.ts";
import "@/protocols/gateway/server.ts";
import "./acp.ts";
import "./gateway.ts";
import "./serve.ts";
