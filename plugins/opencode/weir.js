// Weir's plugin for OpenCode. `weir setup opencode` writes it and `weir teardown opencode` removes it.
//
// It only calls the program: what OpenCode says goes to its standard input, and what comes back is put where OpenCode
// looks for it. Whatever goes wrong, OpenCode works on as if this file were not there.

import { spawn } from "node:child_process"

const WEIR = "weir"
const PATIENCE = 10_000 // Milliseconds.
const EVENTS = new Set(["session.created", "session.compacted", "session.idle", "session.deleted", "todo.updated"])

export const Weir = async ({ client, directory }) => {
  let missing = false
  // What is said at the beginning of a session goes with every request, in the same words: else nothing is cached.
  const said = new Map()
  // How each session began, and which session a subagent's belongs to: OpenCode says so once, when it makes them.
  const began = new Map()
  const parents = new Map()

  const sayOnce = async () => {
    if (missing) return
    missing = true
    const message = `${WEIR} was not found, so nothing is held back or kept; install it, or remove this plugin`
    await client?.app?.log({ body: { service: "weir", level: "warn", message } })
  }

  const call = (event, input, output) =>
    new Promise((resolve) => {
      const child = spawn(WEIR, ["hook", "opencode", event], { cwd: directory, stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE)
      const parts = []
      child.on("error", (error) => {
        clearTimeout(timer)
        if (error.code === "ENOENT") sayOnce().catch(() => {})
        resolve({})
      })
      child.on("close", () => {
        clearTimeout(timer)
        resolve(answer(Buffer.concat(parts).toString("utf8")))
      })
      child.stdout.on("data", (part) => parts.push(part))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({ event, input, output, directory, parent: parents.get(sessionOf(input)) }))
    })

  const ask = async (event, input, output) => {
    if (missing) return {}
    try {
      return await call(event, input, output)
    } catch {
      return {}
    }
  }

  return {
    event: async ({ event }) => {
      if (!EVENTS.has(event.type)) return
      const session = event.properties?.sessionID
      if (event.type === "session.created") {
        began.set(session, "new")
        const parent = event.properties?.info?.parentID
        if (parent) parents.set(session, parent)
      }
      if (event.type === "session.compacted") {
        began.set(session, "compact")
        said.delete(session)
      }
      await ask(`event.${event.type}`, event)
    },
    "chat.message": async (input, output) => {
      const { context } = await ask("chat.message", input, output)
      const { id: messageID, sessionID } = output.message
      for (const [number, text] of texts(context).entries()) {
        output.parts.push({ id: `prt_weir${Date.now()}${number}`, sessionID, messageID, type: "text", text, synthetic: true })
      }
    },
    "tool.execute.before": async (input, output) => {
      const { args } = await ask("tool.execute.before", input, output)
      if (args && typeof args === "object") Object.assign(output.args, args)
    },
    "tool.execute.after": async (input, output) => {
      const { output: text, content } = await ask("tool.execute.after", input, output)
      if (typeof text === "string") output.output = text
      if (typeof content === "string") output.content = [{ type: "text", text: content }]
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input?.sessionID
      if (!said.has(session)) {
        const source = began.get(session) ?? "resume"
        said.set(session, ask("experimental.chat.system.transform", { sessionID: session, source }, {}))
      }
      output.system.push(...texts((await said.get(session)).context))
    },
    "experimental.session.compacting": async (input, output) => {
      const { context } = await ask("experimental.session.compacting", input, output)
      output.context.push(...texts(context))
    },
  }
}

const sessionOf = (input) => input?.sessionID ?? input?.properties?.sessionID

const answer = (text) => {
  try {
    const value = JSON.parse(text)
    return value && typeof value === "object" ? value : {}
  } catch {
    return {}
  }
}

const texts = (context) => (Array.isArray(context) ? context.filter((text) => typeof text === "string" && text) : [])
