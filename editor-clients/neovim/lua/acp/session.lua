---What the sidecar said of each session. Kept to draw from, never to decide on.
local client = require('acp.client')
local event = require('acp.event')
local tell = require('acp.tell')

local M = {}

---@class acp.Session
---@field id string
---@field number integer In the order of first sight.
---@field agent string
---@field commands table[] What the agent understands as `/name`.
---@field options acp.ConfigOption[] The agent's own settings.
---@field queue integer Prompts that wait.
---@field waiting? { turnId: string, text: string }[] The same, what they say.
---@field title? string
---@field usage? { used: integer, size: integer }
---@field modes? { currentModeId: string, availableModes: { id: string, name: string }[] }
---@field status? string
---@field follow? acp.Follow
---@field changes table[]
---@field running integer Prompts of ours that have not ended.
---@field ended boolean
---@field revivable? boolean Its agent has ended; the sidecar starts it again for a prompt.

---@class acp.ConfigOption
---@field id string
---@field type string
---@field options? table[] Choices, or groups of choices.

---@class acp.Follow
---@field enabled boolean
---@field paused boolean
---@field location? { path: string, line?: integer }
---@field shown boolean
---@field reason? string Why the place is not shown.

---@type table<string, acp.Session>
local sessions = {}
---@type string?
local current

---@param id string
---@return acp.Session
local function known(id)
  if not sessions[id] then
    sessions[id] = {
      id = id,
      number = vim.tbl_count(sessions) + 1,
      agent = 'agent',
      commands = {},
      options = {},
      changes = {},
      queue = 0,
      running = 0,
      ended = false,
    }
    current = current or id
  end
  return sessions[id]
end

---The session commands are meant for: the one opened last, or chosen.
---@return acp.Session?
function M.current()
  return current and sessions[current] or nil
end

---@param id? string
---@return acp.Session?
function M.get(id)
  return id and sessions[id] or nil
end

---All sessions that were heard of, in a steady order.
---@return acp.Session[]
function M.all()
  local all = vim.tbl_values(sessions)
  table.sort(all, function(one, other)
    return one.number < other.number
  end)
  return all
end

---The sessions that are open, oldest first.
---@return acp.Session[]
function M.open()
  return vim.tbl_filter(function(session)
    return not session.ended
  end, M.all())
end

---@param id string
function M.choose(id)
  if sessions[id] then
    current = id
    require('acp.transcript').show(id)
  else
    tell.error(('no session %q'):format(id))
  end
end

---@param what string
---@param callback? fun(result: any)
---@return fun(err?: string, result: any)
local function or_complain(what, callback)
  return function(err, result)
    if err then
      local message = ('%s: %s'):format(what, err)
      event.emit('Error', { message = message })
      tell.error(message)
    elseif callback then
      callback(result)
    end
  end
end

---@param callback? fun(session: acp.Session)
---@return fun(result: any)
local function opened(callback)
  return function(result)
    local session = known(result.sessionId)
    session.agent = result.agent or session.agent
    require('acp.changes').forget()
    session.modes = result.modes
    session.commands = result.commands or {}
    session.options = result.configOptions or {}
    session.ended = false
    current = session.id
    require('acp.transcript').show(session.id)
    event.emit('Session', {
      sessionId = session.id,
      agent = session.agent,
      protocolVersion = result.protocolVersion,
    })
    if result.unsent and #result.unsent > 0 then
      require('acp.prompt').give_back(result.unsent)
    end
    if callback then
      callback(session)
    end
  end
end

---@param argument? { agent?: string, cwd?: string }
---@param callback? fun(session: acp.Session)
function M.new(argument, callback)
  client.execute('acp.session.new', argument, or_complain('no session', opened(callback)))
end

---Asks which of the agent's sessions to open again.
---@param agent? string
function M.pick(agent)
  client.execute('acp.session.list', { agent = agent }, or_complain('no list', function(page)
    if #page.sessions == 0 then
      tell.info('the agent has no sessions here')
      return
    end
    vim.ui.select(page.sessions, {
      prompt = 'Open again',
      format_item = function(row)
        return ('%s  %s'):format(row.title or row.agentSessionId, row.updatedAt or '')
      end,
    }, function(row)
      if row then
        M.load(agent, row.agentSessionId)
      end
    end)
  end))
end

---@param agent? string
---@param agent_session_id string
function M.load(agent, agent_session_id)
  local argument = { agent = agent, agentSessionId = agent_session_id }
  client.execute('acp.session.load', argument, or_complain('cannot load', opened()))
end

---Runs a command of the sidecar in the current session.
---@param command string
---@param argument? table
---@param callback? fun(result: any)
function M.execute(command, argument, callback)
  local session = M.current()
  if not session then
    tell.error('no session is open. :Acp new opens one')
    return
  end
  argument = vim.tbl_extend('force', { sessionId = session.id }, argument or {})
  client.execute(command, argument, or_complain(command, callback))
end

---@param session acp.Session
---@param text string
---@param context? { uri: string, range?: lsp.Range }[]
---@param content? table[] Content blocks that go with it.
local function send(session, text, context, content)
  session.running = session.running + 1
  require('acp.reveal').prompted()
  local argument = { sessionId = session.id, text = text, context = context, content = content }
  client.execute('acp.session.prompt', argument, function(err, result)
    session.running = math.max(0, session.running - 1)
    if err then
      tell.error(err)
    end
    event.emit('TurnEnded', {
      sessionId = session.id,
      stopReason = result and result.stopReason,
      error = err,
    })
    vim.cmd.redrawstatus({ bang = true })
  end)
end

---Sends a prompt; opens a session first where there is none.
---@param text string
---@param context? { uri: string, range?: lsp.Range }[]
---@param content? table[] Content blocks that go with it.
function M.prompt(text, context, content)
  local session = M.current()
  if session and (not session.ended or session.revivable) then
    send(session, text, context, content)
  else
    M.new(nil, function(new)
      send(new, text, context, content)
    end)
  end
end

---Shows the prompts that wait, to change one or take it out.
function M.show_queue()
  M.execute('acp.session.queue', nil, function(waiting)
    if #waiting == 0 then
      tell.info('no prompt is waiting')
      return
    end
    vim.ui.select(waiting, {
      prompt = 'Prompts that wait',
      format_item = function(prompt)
        return (prompt.text:gsub('%s*\n%s*', ' | '))
      end,
    }, function(prompt)
      if prompt then
        vim.ui.select({ 'Change it', 'Take it out' }, { prompt = prompt.text }, function(_, index)
          if index == 1 then
            require('acp.prompt').edit(prompt)
          elseif index == 2 then
            M.execute('acp.session.queue', { drop = prompt.turnId }, function()
              tell.info('taken out')
            end)
          end
        end)
      end
    end)
  end)
end

---Logs in to an agent, or out.
---@param how 'login'|'logout'
---@param agent? string Default: the current session's.
---@param method? string
function M.log(how, agent, method)
  local session = M.current()
  agent = agent or (session and session.agent) or require('acp.config').get().default_agent
  if not agent then
    tell.error((':Acp %s {agent}'):format(how))
    return
  end
  client.execute('acp.agent.' .. how, { agent = agent, methodId = method }, or_complain(how, function()
    tell.info((how == 'login' and 'logged in to ' or 'logged out of ') .. agent)
  end))
end

---@param mode string
function M.set_mode(mode)
  local session = M.current()
  M.execute('acp.session.setMode', { modeId = mode }, function(result)
    session.modes = result.modes or session.modes
    tell.info('mode ' .. mode)
  end)
end

---Asks for what the agent has announced since the session was opened.
---@param callback? fun(session: acp.Session)
function M.look(callback)
  local session = M.current()
  if not session or session.ended then
    return
  end
  local argument = { sessionId = session.id }
  client.execute('acp.session.state', argument, or_complain('no state', function(state)
    session.commands = state.commands or {}
    session.options = state.configOptions or {}
    session.modes = state.modes
    if callback then
      callback(session)
    end
  end))
end

---@param id string
---@param value string
function M.set_option(id, value)
  local session = M.current()
  local option = vim.iter(session and session.options or {}):find(function(one)
    return one.id == id
  end)
  local argument = { configId = id, value = value }
  if option and option.type == 'boolean' then
    argument.value = value == 'true'
  end
  M.execute('acp.session.setConfigOption', argument, function(result)
    session.options = result.configOptions or session.options
    tell.info(('%s: %s'):format(id, value))
  end)
end

---@param word? 'on'|'off' The other one than now where it is left out.
function M.follow(word)
  local session = M.current()
  local follow = session and session.follow
  local enabled = word == 'on'
  if not word then
    enabled = follow ~= nil and (not follow.enabled or follow.paused)
  elseif word ~= 'on' and word ~= 'off' then
    tell.error(':Acp follow [on|off]')
    return
  end
  if enabled then
    require('acp.reveal').prompted()
  end
  client.execute('acp.follow.set', { enabled = enabled }, or_complain('follow', function(result)
    tell.info('following is ' .. (result.enabled and 'on' or 'off'))
  end))
end

---What waits for review is another: everything that shows it follows.
local function changed()
  require('acp.changes').forget()
  require('acp.drawing').refresh()
  require('acp.quickfix').refresh()
  require('acp.compare').refresh()
  vim.cmd.redrawstatus({ bang = true })
end

---The sidecar is gone and its sessions with it.
function M.server_ended()
  require('acp.review').forget()
  for _, session in pairs(sessions) do
    if not session.ended then
      session.ended = true
      session.revivable = false
      session.running = 0
      session.status = 'dead'
      require('acp.transcript').note(session.id, 'The sidecar ended, and this session with it.')
    end
    session.changes = {}
  end
  changed()
end

-- What the sidecar tells.

---@param session acp.Session
---@return boolean
local function in_turn(session)
  return session.status == 'running' or session.status == 'requires_action'
end

---@type lsp.Handler
function M.on_transcript(_, params)
  local session = known(params.sessionId)
  local stop_text
  for _, block in ipairs(params.blocks or {}) do
    if block.kind == 'status' then
      if block.status == 'idle' and in_turn(session) then
        stop_text = block.stopText
      end
      session.status = block.status
      session.queue = #(block.queue or {})
      session.waiting = block.queue or {}
      session.title = block.title
      session.usage = block.usage
      session.modes = block.modes or session.modes
      session.options = block.configOptions or session.options
      session.ended = block.status == 'closed' or block.status == 'dead'
      session.revivable = block.status == 'dead'
      if block.status == 'closed' and #session.changes > 0 then
        session.changes = {}
        changed()
      end
    elseif block.kind == 'permission' or block.kind == 'elicitation' then
      require('acp.permission').on_state(block)
    end
  end
  require('acp.transcript').update(session.id, params.blocks or {})
  if stop_text then
    require('acp.transcript').note(session.id, stop_text)
  end
  event.emit('Transcript', { sessionId = session.id })
  vim.cmd.redrawstatus({ bang = true })
end

---@type lsp.Handler
function M.on_changes(_, params)
  local session = known(params.sessionId)
  session.changes = params.changes or {}
  require('acp.activity').look_at_disk(vim.tbl_map(function(change)
    return change.uri
  end, session.changes))
  changed()
  require('acp.proposals').look(session)
  event.emit('Changes', { sessionId = session.id, changes = session.changes })
end

---@type lsp.Handler
function M.on_follow(_, params)
  known(params.sessionId).follow = params
  event.emit('Follow', params)
  vim.cmd.redrawstatus({ bang = true })
end

return M
