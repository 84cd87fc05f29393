// An agent written with the official TypeScript SDK's draft of version 2. The SDK checks what the
// client sends and what this agent says.
//
//   node ts_agent_v2.mjs SDK_FOLDER
//
// The prompt "go" plays one turn of much of what version 2 has, "seen" tells what arrived, "wait"
// waits for a cancel. Any other prompt is lines that are done one after the other; SESSION in them
// stands for the session's id:
//
//   update UPDATE         tell it
//   call METHOD PARAMS    have a method of the client's called and say its answer
//   notify METHOD PARAMS
//   until METHOD ID       wait until the client cancels the tool call or the terminal ID
//   idle FIELDS           end the turn here; what follows comes while the session is idle
//   write [PATH, TEXT], remove [PATH], rename [FROM, TO], copy [FROM, TO]

import { copyFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const folder = join(process.argv[2], "node_modules", "@agentclientprotocol", "sdk");
const acp = await import(pathToFileURL(join(folder, "dist", "v2", "stable", "acp.js")).href);
const { agent: agents, client: clients } = acp.methods;
const sessions = new Map();
const seen = [];
let count = 0;
let messages = 0;
let answers = 0;
const cancels = new Map();

const base64 = (text) => Buffer.from(text, "latin1").toString("base64");
const text = (words) => ({ type: "text", text: words });
const options = (session) => [
  {
    configId: "model",
    name: "Model",
    type: "select",
    currentValue: session.model,
    options: [
      { value: "small", name: "Small" },
      { value: "big", name: "Big" },
    ],
  },
];

const app = acp.agent({ name: "ts-agent-v2" });
const on = (method, handler) =>
  app.onRequest(method, (context) => {
    seen.push({ method, params: context.params });
    return handler(context);
  });

on(agents.initialize, () => ({
  protocolVersion: acp.PROTOCOL_VERSION,
  info: { name: "ts-agent-v2", version: "1" },
  capabilities: { session: { delete: {}, mcp: { stdio: {} } } },
  authMethods: [{ type: "agent", methodId: "key", name: "A key" }],
}));
on(agents.auth.login, () => ({}));
on(agents.auth.logout, () => ({}));
on(agents.session.new, ({ params }) => {
  const session = { id: `v2-${++count}`, cwd: params.cwd, model: "small", cancel: () => {} };
  sessions.set(session.id, session);
  return {
    sessionId: session.id,
    configOptions: options(session),
    availableCommands: [{ type: "command", name: "plan", description: "makes a plan" }],
  };
});
on(agents.session.resume, async ({ params, client }) => {
  const session = { id: params.sessionId, cwd: params.cwd, model: "big", cancel: () => {} };
  sessions.set(session.id, session);
  const say = (update) => client.notify(clients.session.update, { sessionId: session.id, update });
  if (params.replayFrom?.type === "start") {
    await say({ sessionUpdate: "user_message", messageId: "u", content: [text("the question")] });
    await say({ sessionUpdate: "agent_message", messageId: "a", content: [text("the answer")] });
  }
  await say({ sessionUpdate: "state_update", state: "idle" });
  return { configOptions: options(session) };
});
on(agents.session.list, () => ({ sessions: [{ sessionId: "old", cwd: "/ws", title: "Old" }] }));
on(agents.session.close, () => ({}));
on(agents.session.delete, () => ({}));
on(agents.session.setConfigOption, ({ params }) => {
  const session = sessions.get(params.sessionId);
  session.model = params.value;
  return { configOptions: options(session) };
});
app.onNotification(agents.session.cancel, ({ params }) => {
  seen.push({ method: agents.session.cancel, params });
  sessions.get(params.sessionId).cancel();
});
// The SDK leaves it to the agent to know what can be cancelled.
function cancelled(method, id) {
  const resolve = cancels.get(`${method} ${id}`);
  if (resolve === undefined) throw acp.RequestError.invalidParams({ id });
  resolve();
  return {};
}
on(agents.toolCall.cancel, ({ params }) => cancelled(agents.toolCall.cancel, params.toolCallId));
on(agents.terminal.cancel, ({ params }) => cancelled(agents.terminal.cancel, params.terminalId));
on(agents.session.prompt, ({ params, client }) => {
  const session = sessions.get(params.sessionId);
  const messageId = `u${++messages}`;
  const turn = { session, client, messageId, words: params.prompt[0].text, prompt: params.prompt };
  setImmediate(() => play(turn));
  return { messageId };
});

async function play({ session, client, messageId, words, prompt }) {
  const say = (sessionUpdate, fields) =>
    client.notify(clients.session.update, {
      sessionId: session.id,
      update: { sessionUpdate, ...fields },
    });
  await say("state_update", { state: "running" });
  await say("user_message", { messageId, content: prompt });
  if (words === "seen") {
    await say("agent_message", { messageId: `a${messageId}`, content: [text(JSON.stringify(seen))] });
  } else if (words === "wait") {
    await say("tool_call_update", { toolCallId: "w", title: "Wait", status: "in_progress" });
    await new Promise((resolve) => (session.cancel = resolve));
    await say("state_update", { state: "idle", stopReason: "cancelled" });
    return;
  } else if (words === "go") {
    await everything(session, client, say);
  } else if (await script(words.split("\n"), session, client, say)) {
    return;
  }
  await say("state_update", { state: "idle", stopReason: "end_turn" });
}

// True where a line has ended the turn.
async function script(lines, session, client, say) {
  let idle = false;
  const disk = {
    write: ([path, content]) => writeFileSync(path, content),
    remove: ([path]) => rmSync(path),
    rename: ([from, to]) => renameSync(from, to),
    copy: ([from, to]) => copyFileSync(from, to),
  };
  for (const line of lines) {
    const [word, method] = line.split(" ", 2);
    const tail = (head) => JSON.parse(line.slice(head.length).replaceAll("SESSION", session.id));
    const given = () => tail(`${word} ${method} `);
    if (word === "update") {
      const { sessionUpdate, ...fields } = tail("update ");
      await say(sessionUpdate, fields);
    } else if (word === "call") {
      const answer = await client.request(method, given());
      await say("agent_message", {
        messageId: `answer-${++answers}`,
        content: [text(JSON.stringify(answer))],
      });
    } else if (word === "notify") {
      await client.notify(method, given());
    } else if (word === "until") {
      const what = line.slice("until ".length);
      await new Promise((resolve) => cancels.set(what, resolve));
      cancels.delete(what);
    } else if (word === "idle") {
      idle = true;
      await say("state_update", { state: "idle", ...tail("idle ") });
    } else if (word in disk) {
      disk[word](tail(`${word} `));
    } else {
      throw new Error(`no such line: ${line}`);
    }
  }
  return idle;
}

async function everything(session, client, say) {
  const path = join(session.cwd, "made.txt");
  await say("agent_thought_chunk", { messageId: "t", content: text("Hm") });
  const entry = { content: "Make it", priority: "high", status: "cancelled" };
  await say("plan_update", { plan: { type: "items", planId: "p", entries: [entry] } });
  await say("tool_call_update", { toolCallId: "c", title: "Make", kind: "edit" });
  const permission = await client.request(clients.session.requestPermission, {
    sessionId: session.id,
    title: "Make it?",
    subject: { type: "tool_call", toolCall: { toolCallId: "c", status: "in_progress" } },
    options: [
      { optionId: "y", name: "Make it", kind: "allow_once" },
      { optionId: "n", name: "Leave it", kind: "reject_once" },
    ],
  });
  await say("terminal_update", { terminalId: "x", command: "touch made.txt", cwd: session.cwd });
  await say("terminal_output_chunk", { terminalId: "x", data: base64("caf\xc3") });
  await say("terminal_output_chunk", { terminalId: "x", data: base64("\xa9") });
  await say("terminal_update", { terminalId: "x", exitStatus: { exitCode: 0 } });
  const patch =
    `diff --git ${path} ${path}\nnew file mode 100644\n` +
    `--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+made\n`;
  await say("tool_call_content_chunk", {
    toolCallId: "c",
    content: { type: "terminal", terminalId: "x" },
  });
  await say("tool_call_content_chunk", {
    toolCallId: "c",
    content: {
      type: "diff",
      changes: [{ operation: "add", path }],
      patch: { format: "git_patch", text: patch },
    },
  });
  await say("tool_call_update", { toolCallId: "c", status: "completed", title: null });
  await say("usage_update", { used: 5, size: 10, cost: { amount: 1, currency: "USD" } });
  await say("usage_update", { used: 6, size: 10 });
  await say("session_info_update", { title: "Made" });
  await say("notice", { severity: "info", title: "Made it" });
  await say("compaction_update", { compactionId: "k", status: "in_progress" });
  await say("compaction_summary_chunk", { compactionId: "k", content: text("short") });
  await say("compaction_update", { compactionId: "k", status: "completed" });
  await say("_vendor_update", { anything: 1 });
  const told = JSON.stringify(permission.outcome);
  await say("agent_message_chunk", { messageId: "a", content: text("answered ") });
  await say("agent_message", { messageId: "a", content: [text(`answered ${told}`)] });
}

app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
