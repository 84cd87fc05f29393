local M = {}

---@param session acp.Session
---@return integer hunks
---@return integer proposed
local function counts(session)
  local hunks, proposed = 0, 0
  for _, change in ipairs(session.changes) do
    hunks = hunks + #(change.hunks or {})
    proposed = proposed + #(change.proposed or {})
  end
  return hunks, proposed
end

---A short text on the current session: agent, status, questions, changes, following.
---@return string
function M.get()
  local session = require('acp.session').current()
  if not session then
    return ''
  end
  local status = session.status or (session.running > 0 and 'running' or 'idle')
  local parts = { session.agent, status }
  if session.modes and session.modes.currentModeId then
    parts[#parts + 1] = session.modes.currentModeId
  end
  if session.usage and session.usage.size and session.usage.size > 0 then
    parts[#parts + 1] = ('%d%%'):format(session.usage.used * 100 / session.usage.size)
  end
  if session.queue > 0 then
    parts[#parts + 1] = ('+%d'):format(session.queue)
  end
  local waiting = #require('acp.permission').waiting()
  if waiting > 0 then
    parts[#parts + 1] = ('?%d'):format(waiting)
  end
  if #session.changes > 0 then
    parts[#parts + 1] = ('±%d'):format(#session.changes)
    local hunks, proposed = counts(session)
    if hunks > 0 then
      parts[#parts] = ('%s (%d)'):format(parts[#parts], hunks)
    end
    if proposed > 0 then
      parts[#parts + 1] = ('%d to decide'):format(proposed)
    end
  end
  local follow = session.follow
  if follow and (not follow.enabled or follow.paused) then
    parts[#parts + 1] = follow.enabled and 'paused' or 'not following'
  end
  return table.concat(parts, ' · ')
end

---What the agent calls the conversation, empty where it calls it nothing.
---@return string
function M.title()
  local session = require('acp.session').current()
  return session and session.title and require('acp.question').plainly(session.title) or ''
end

return M
