---Keep, revert, undo: which hunks a command means, and what came of it.
local changes = require('acp.changes')
local client = require('acp.client')
local drawing = require('acp.drawing')
local event = require('acp.event')
local quickfix = require('acp.quickfix')
local tell = require('acp.tell')

local M = {}

---@alias acp.Step 'keep'|'revert'
---@alias acp.Outcome { kept: string[], reverted: string[], conflicts: string[], problems: string[] }

---@param outcome acp.Outcome
---@param step acp.Step|'undo'|'restore'
local function report(outcome, step)
  local parts = {}
  for _, name in ipairs({ 'kept', 'reverted', 'conflicts' }) do
    local count = #outcome[name]
    if count > 0 then
      local undone = step == 'undo' and name ~= 'conflicts'
      local word = name == 'conflicts' and count == 1 and 'conflict' or name
      parts[#parts + 1] = ('%d %s'):format(count, undone and 'no longer ' .. word or word)
    end
  end
  local is_whole = #outcome.conflicts == 0 and #outcome.problems == 0
  local say = is_whole and tell.info or tell.warn
  vim.list_extend(parts, outcome.problems)
  say(#parts > 0 and table.concat(parts, ', ') or 'nothing to do')
  event.emit('Reviewed', outcome)
end

---@type string? The session of the last step, which is the one to undo in.
local last_session

---@return acp.Outcome
local function nothing()
  return { kept = {}, reverted = {}, conflicts = {}, problems = {} }
end

---@param command string
---@param argument table
---@param outcome acp.Outcome Grows by what came of it.
---@param callback fun(done: boolean) Whether anything came of it.
local function run(command, argument, outcome, callback)
  client.execute(command, argument, function(err, result)
    if err then
      outcome.problems[#outcome.problems + 1] = err
      event.emit('Error', { message = err })
    end
    local done = false
    for name, list in pairs(outcome) do
      local more = result and result[name] or {}
      vim.list_extend(list, more)
      done = done or #more > 0
    end
    callback(done)
  end)
end

---Runs a command for several hunks, files or sessions, one after the other, and tells what
---came of all of them.
---@param command string
---@param arguments table[]
---@param step acp.Step|'restore'
function M.execute(command, arguments, step)
  local outcome = nothing()
  local function go_on(index)
    if index > #arguments then
      report(outcome, step)
      return
    end
    last_session = arguments[index].sessionId
    run(command, arguments[index], outcome, function()
      go_on(index + 1)
    end)
  end
  go_on(1)
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
  M.execute('acp.review.' .. step, arguments, step)
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

---The hunks on some lines of the current buffer, or on those of a list.
---@param first integer 1-based
---@param last integer
---@return { session: string, id: string }[]
local function hunks(first, last)
  if quickfix.is_here() then
    local found = {}
    for _, item in ipairs(quickfix.items(first, last)) do
      if item.id then
        found[#found + 1] = { session = item.session, id = item.id }
      end
    end
    return found
  end
  local here = drawing.within(0, first - 1, last - 1)
  if first == last then
    here = { drawing.at(0, first - 1) }
  end
  return vim.tbl_map(function(one)
    return { session = one.hunk.session, id = one.hunk.id }
  end, here)
end

---Keeps or reverts the hunk under the cursor, or all on some lines.
---@param step acp.Step
---@param first? integer 1-based
---@param last? integer
function M.hunks(step, first, last)
  first = first or vim.fn.line('.')
  local chosen = hunks(first, last or first)
  if #chosen == 0 then
    tell.info('no change of the agent here')
    return
  end
  local uri = current_uri()
  local file = not quickfix.is_here() and changes.of(vim.uri_to_fname(uri))
  if file and #file.entries == 1 and #chosen > 1 and #chosen == #file.hunks then
    M.file(step, uri) -- one step to undo instead of many
    return
  end
  local arguments = vim.tbl_map(function(one)
    return { sessionId = one.session, hunkId = one.id }
  end, chosen)
  M.execute('acp.review.' .. step, arguments, step)
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
  local session = require('acp.session')
  local chosen = session.get(last_session) or session.current()
  if not chosen then
    tell.error('no session is open. :Acp new opens one')
    return
  end
  local outcome = nothing()
  local function go_on(left)
    run('acp.review.undo', { sessionId = chosen.id }, outcome, function(done)
      if done and left > 1 and #outcome.problems == 0 then
        go_on(left - 1)
      else
        report(outcome, 'undo')
      end
    end)
  end
  go_on(count)
end

return M
