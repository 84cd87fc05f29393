---Tells of writes that wait for the user (`review.mode` `before`). They are drawn like hunks.
local event = require('acp.event')
local tell = require('acp.tell')

local M = {}

---@type table<string, true> The proposals that were told of.
local told = {}

---@param session acp.Session
---@param change acp.Change
local function tell_of(session, change)
  local count = #change.proposed
  local name = vim.fn.fnamemodify(vim.uri_to_fname(change.uri), ':~:.')
  event.emit('Proposed', { sessionId = session.id, uri = change.uri, hunks = count })
  tell.info(
    ('%s would like to %s %s (%d %s) and waits: :Acp keep, :Acp revert, :Acp diff'):format(
      session.agent,
      change.status == 'created' and #(change.hunks or {}) == 0 and 'make' or 'change',
      name,
      count,
      count == 1 and 'place' or 'places'
    )
  )
end

---@param session acp.Session
function M.look(session)
  for _, change in ipairs(session.changes) do
    local is_new = false
    for _, hunk in ipairs(change.proposed or {}) do
      -- The id of a hunk begins with that of its proposal.
      local id = hunk.id:match('^(.*)%.') or hunk.id
      is_new = is_new or not told[id]
      told[id] = true
    end
    if is_new then
      tell_of(session, change)
    end
  end
end

return M
