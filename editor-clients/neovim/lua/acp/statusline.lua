local M = {}

---A short text on the current session: agent, status, questions, changes, following.
---@return string
function M.get()
  local session = require('acp.session').current()
  if not session then
    return ''
  end
  local status = session.status or (session.running > 0 and 'running' or 'idle')
  local parts = { session.agent, status }
  if session.queue > 0 then
    parts[#parts + 1] = ('+%d'):format(session.queue)
  end
  local waiting = #require('acp.permission').waiting()
  if waiting > 0 then
    parts[#parts + 1] = ('?%d'):format(waiting)
  end
  if #session.changes > 0 then
    parts[#parts + 1] = ('±%d'):format(#session.changes)
  end
  local follow = session.follow
  if follow and (not follow.enabled or follow.paused) then
    parts[#parts + 1] = follow.enabled and 'paused' or 'not following'
  end
  return table.concat(parts, ' · ')
end

return M
