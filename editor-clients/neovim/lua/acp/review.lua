---Keep, revert, undo: which hunks a command means, and what came of it.
local changes = require('acp.changes')
local client = require('acp.client')
local event = require('acp.event')
local quickfix = require('acp.quickfix')
local rows = require('acp.rows')
local tell = require('acp.tell')
local texts = require('acp.texts')

local M = {}

---Steps that are taken back at once; nobody counts more.
local MOST_UNDONE = 1000

---@alias acp.Step 'keep'|'revert'

---@class acp.Outcome
---@field kept string[]
---@field reverted string[]
---@field conflicts string[]
---@field problems string[]
---@field text string All of it in words.
---@field partial boolean Whether something of what was asked for was not done.
---@field undo { sessionId: string }[]

---@type string? The session of the last step, which is the one to undo in.
local last_session
---Steps that the sidecar has not answered, and undos that were asked for meanwhile.
local running, undos = 0, {} ---@type integer, integer[]

---The sidecar is gone: nothing is answered any more.
function M.forget()
  running, undos = 0, {}
end

local function answered()
  running = math.max(running - 1, 0)
  if running == 0 and #undos > 0 then
    M.undo(table.remove(undos, 1))
  end
end

---Runs a command for a hunk, a file, a session or several of them, and tells what came of it.
---@param command string
---@param arguments table[]
function M.execute(command, arguments)
  local argument = #arguments == 1 and arguments[1] or { targets = arguments }
  running = running + 1
  client.execute(command, argument, function(err, outcome)
    if err then
      event.emit('Error', { message = err })
      tell.error(err)
      answered()
      return
    end
    if #outcome.undo > 0 then
      last_session = outcome.undo[1].sessionId
    end
    local say = outcome.partial and tell.warn or tell.info
    say(outcome.text)
    event.emit('Reviewed', outcome)
    answered()
  end)
end

---The buffer's file, also where the buffer is a side of a comparison.
---@return string
local function current_uri()
  return vim.b.acp_uri or vim.uri_from_bufnr(0)
end

---The file a command is meant for: named, under the cursor in a list, or in the buffer.
---@param name? string
---@return string uri
function M.target(name)
  if name and name ~= '' then
    return vim.uri_from_fname(vim.fn.fnamemodify(name, ':p'))
  end
  local item = quickfix.items(vim.fn.line('.'), vim.fn.line('.'))[1]
  return item and item.uri or current_uri()
end

---Sends a step to these sessions; where nothing is known to wait, to the current one, since
---the sidecar may know more.
---@param step acp.Step
---@param sessions acp.Session[]
---@param uri? string
local function decide(step, sessions, uri)
  if #sessions == 0 then
    sessions = { require('acp.session').current() }
  end
  if #sessions == 0 then
    tell.error('no session is open. :Acp new opens one')
    return
  end
  local arguments = vim.tbl_map(function(session)
    return { sessionId = session.id, uri = uri }
  end, sessions)
  M.execute('acp.review.' .. step, arguments)
end

---@param step acp.Step
---@param uri string
function M.file(step, uri)
  local file = changes.of(vim.uri_to_fname(uri))
  local sessions = vim.tbl_map(function(entry)
    return entry.session
  end, file and file.entries or {})
  decide(step, sessions, uri)
end

---@param step acp.Step
function M.all(step)
  local sessions = vim.tbl_filter(function(session)
    return #session.changes > 0
  end, require('acp.session').all())
  decide(step, sessions)
end

---The hunks on some lines of a list.
---@param first integer 1-based
---@param last integer
---@return table[] arguments
local function listed(first, last)
  local found = {}
  for _, item in ipairs(quickfix.items(first, last)) do
    if item.id then
      found[#found + 1] = { sessionId = item.session, hunkId = item.id }
    end
  end
  return found
end

---Some lines of the current buffer. Which hunks they mean the sidecar says.
---@param first integer 1-based
---@param last integer
---@return table argument
local function lines_here(first, last)
  local uri = vim.uri_from_bufnr(0)
  first, last = first - 1, last - 1
  local file = changes.of(vim.uri_to_fname(uri))
  if file and texts.has_lone_returns(file.name) then
    first, last = rows.of_neovim(0, first, last)
  end
  return {
    uri = uri,
    range = {
      start = { line = first, character = 0 },
      -- Past the beginning of the last line: all of it.
      ['end'] = { line = last, character = last > first and 1 or 0 },
    },
  }
end

---Keeps or reverts the hunk under the cursor, or all on some lines.
---@param step acp.Step
---@param first? integer 1-based
---@param last? integer
function M.hunks(step, first, last)
  first = first or vim.fn.line('.')
  last = last or first
  if not quickfix.is_here() and not vim.b.acp_uri then
    M.execute('acp.review.' .. step, { lines_here(first, last) })
    return
  end
  local chosen = quickfix.is_here() and listed(first, last) or {}
  if #chosen == 0 then
    tell.info('no change of the agent here')
    return
  end
  M.execute('acp.review.' .. step, chosen)
end

---@type acp.Step
local repeated

---For maps that `.` repeats: to be used as an expression.
---@param step acp.Step
---@return string keys
function M.operator(step)
  repeated = step
  vim.go.operatorfunc = "v:lua.require'acp.review'.operate"
  return 'g@l'
end

function M.operate()
  M.hunks(repeated)
end

---Takes the last steps back.
---@param count integer
function M.undo(count)
  if running > 0 then
    undos[#undos + 1] = count -- its answer says in which session something was done
    return
  end
  local session = require('acp.session')
  local chosen = session.get(last_session) or session.current()
  if not chosen then
    tell.error('no session is open. :Acp new opens one')
    return
  end
  local targets = {}
  for index = 1, math.min(count, MOST_UNDONE) do
    targets[index] = { sessionId = chosen.id }
  end
  M.execute('acp.review.undo', targets)
end

return M
