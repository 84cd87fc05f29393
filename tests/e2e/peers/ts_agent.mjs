// An agent written with the official TypeScript SDK. The SDK reads and checks what the client
// sends; what arrived is told by the prompt "seen".
//
//   node ts_agent.mjs SDK_FOLDER [--login]
//
// A prompt is a word, or "call METHOD PARAMS" to have a method of the client's called and its
// answer told, "notify METHOD PARAMS", "update UPDATE"; more of them on lines of their own are
// done one after the other. SESSION in them stands for the session's id.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const folder = join(process.argv[2], "node_modules", "@agentclientprotocol", "sdk");
const { main } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const acp = await import(pathToFileURL(join(folder, main)).href);
const { agent: agents, client: clients } = acp.methods;

const needsLogin = process.argv.includes("--login");
const sessions = new Map();
const seen = [];
let loggedIn = !needsLogin;
let count = 0;

const modes = (currentModeId) => ({
  currentModeId,
  availableModes: [
    { id: "calm", name: "Calm" },
    { id: "bold", name: "Bold", description: "asks less" },
  ],
});

const options = (session) => [
  {
    type: "select",
    id: "model",
    name: "Model",
    category: "model",
    currentValue: session.model,
    options: [
      { value: "small", name: "Small" },
      { value: "big", name: "Big" },
    ],
  },
  { type: "boolean", id: "verbose", name: "Verbose", currentValue: session.verbose },
];

function opened(id, cwd) {
  const session = { id, cwd, mode: "calm", model: "small", verbose: false, cancel: () => {} };
  sessions.set(id, session);
  return session;
}

function about(session) {
  return { modes: modes(session.mode), configOptions: options(session) };
}

function known(id) {
  const session = sessions.get(id);
  if (session === undefined) throw acp.RequestError.resourceNotFound(id);
  return session;
}

function note(method) {
  return (handler) => (context) => {
    seen.push({ method, params: context.params });
    return handler(context);
  };
}

const app = acp.agent({ name: "ts-agent" });
const on = (method, handler) => app.onRequest(method, note(method)(handler));

on(agents.initialize, () => ({
  protocolVersion: acp.PROTOCOL_VERSION,
  agentInfo: { name: "ts-agent", title: "TypeScript agent", version: "1" },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: {
      list: {},
      resume: {},
      close: {},
      delete: {},
      additionalDirectories: {},
    },
    auth: { logout: {} },
  },
  authMethods: [{ id: "key", name: "A key", description: "Ask for one." }],
}));
on(agents.authenticate, ({ params }) => {
  if (params.methodId !== "key") throw acp.RequestError.invalidParams();
  loggedIn = true;
  return {};
});
on(agents.logout, () => {
  loggedIn = false;
  return {};
});
on(agents.session.new, ({ params }) => {
  if (!loggedIn) throw acp.RequestError.authRequired();
  const session = opened(`ts-${++count}`, params.cwd);
  return { sessionId: session.id, ...about(session) };
});
on(agents.session.load, async ({ params, client }) => {
  if (params.sessionId === "unknown") throw acp.RequestError.resourceNotFound("unknown");
  const session = opened(params.sessionId, params.cwd);
  const text = (words) => ({ type: "text", text: words });
  for (const update of [
    { sessionUpdate: "user_message_chunk", content: text("the question") },
    { sessionUpdate: "agent_message_chunk", content: text("the answer") },
  ]) {
    await client.notify(clients.session.update, { sessionId: session.id, update });
  }
  return about(session);
});
on(agents.session.resume, ({ params }) => about(opened(params.sessionId, params.cwd)));
on(agents.session.list, ({ params }) => {
  const rows = [...sessions.values()].filter((one) => !params.cwd || one.cwd === params.cwd);
  const first = Number(params.cursor ?? 0);
  const page = rows.slice(first, first + 1).map((one) => ({
    sessionId: one.id,
    cwd: one.cwd,
    title: `Session ${one.id}`,
    updatedAt: "2026-11-29T12:00:00Z",
  }));
  return first + 1 < rows.length
    ? { sessions: page, nextCursor: String(first + 1) }
    : { sessions: page };
});
on(agents.session.delete, ({ params }) => {
  known(params.sessionId);
  sessions.delete(params.sessionId);
  return {};
});
on(agents.session.close, ({ params }) => {
  known(params.sessionId).cancel();
  return {};
});
on(agents.session.setMode, ({ params }) => {
  known(params.sessionId).mode = params.modeId;
  return {};
});
on(agents.session.setConfigOption, ({ params }) => {
  const session = known(params.sessionId);
  session[params.configId] = params.value;
  return { configOptions: options(session) };
});
app.onNotification(agents.session.cancel, (context) => {
  note(agents.session.cancel)(() => known(context.params.sessionId).cancel())(context);
});

on(agents.session.prompt, async ({ params, client, signal }) => {
  const session = known(params.sessionId);
  let cancelled = false;
  const cancel = new Promise((resolve) => {
    session.cancel = () => {
      cancelled = true;
      resolve();
    };
  });
  const say = (words) =>
    client.notify(clients.session.update, {
      sessionId: session.id,
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } },
    });
  const lines = params.prompt[0].text.split("\n");
  for (const line of lines) {
    const [word, method] = line.split(" ", 2);
    const rest = line.slice(word.length + 1 + (method ? method.length + 1 : 0));
    const given = () => JSON.parse(rest.replaceAll("SESSION", session.id));
    if (word === "call") {
      try {
        await say(`${JSON.stringify(await client.request(method, given()))}\n`);
      } catch (error) {
        await say(`${JSON.stringify({ code: error.code, message: error.message })}\n`);
      }
    } else if (word === "notify") {
      await client.notify(method, given());
    } else if (word === "update") {
      const update = JSON.parse(line.slice("update ".length));
      await client.notify(clients.session.update, { sessionId: session.id, update });
    } else if (word === "withdraw") {
      // A request that is cancelled while it waits: $/cancel_request.
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 200);
      try {
        await client.request(method, given(), { cancellationSignal: controller.signal });
      } catch (error) {
        await say(`${JSON.stringify({ code: error.code ?? error.name })}\n`);
      }
    } else if (word === "wait") {
      await say("waiting\n");
      await cancel;
    } else if (word === "seen") {
      await say(JSON.stringify(seen));
    } else {
      await say(`${line}\n`);
    }
    if (cancelled) return { stopReason: "cancelled" };
  }
  return { stopReason: "end_turn" };
});

app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
