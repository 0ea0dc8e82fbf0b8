/** The files of the console as texts. They become part of the bundle, so that nothing is read at run time. */
import api from "./web/api.js" with { type: "text" };
import approvals from "./web/approvals.js" with { type: "text" };
import composer from "./web/composer.js" with { type: "text" };
import consoleScript from "./web/console.js" with { type: "text" };
import conversation from "./web/conversation.js" with { type: "text" };
import dialogs from "./web/dialogs.js" with { type: "text" };
import dom from "./web/dom.js" with { type: "text" };
import follow from "./web/follow.js" with { type: "text" };
import frame from "./web/frame.js" with { type: "text" };
import icon from "./web/icon.svg" with { type: "text" };
import page from "./web/index.html" with { type: "text" };
import main from "./web/main.js" with { type: "text" };
import markdown from "./web/markdown.js" with { type: "text" };
import markdownView from "./web/markdown_view.js" with { type: "text" };
import models from "./web/models.js" with { type: "text" };
import questions from "./web/questions.js" with { type: "text" };
import sessions from "./web/sessions.js" with { type: "text" };
import style from "./web/style.css" with { type: "text" };
import tools from "./web/tools.js" with { type: "text" };

/** By name below `/console/`; the page itself is `index.html`. */
export const ASSETS: Readonly<Record<string, string>> = {
  "api.js": api,
  "approvals.js": approvals,
  "composer.js": composer,
  "console.js": consoleScript,
  "conversation.js": conversation,
  "dialogs.js": dialogs,
  "dom.js": dom,
  "follow.js": follow,
  "frame.js": frame,
  "icon.svg": icon,
  "index.html": page,
  "main.js": main,
  "markdown.js": markdown,
  "markdown_view.js": markdownView,
  "models.js": models,
  "questions.js": questions,
  "sessions.js": sessions,
  "style.css": style,
  "tools.js": tools,
};
