---The states of the files at each prompt, and the way back to one.
local client = require('acp.client')
local review = require('acp.review')
local session = require('acp.session')
local tell = require('acp.tell')

local M = {}

---@param seconds integer Since 1970.
---@return string
local function ago(seconds)
  local passed = math.max(0, os.time() - seconds)
  for _, unit in ipairs({ { 86400, 'd' }, { 3600, 'h' }, { 60, 'min' } }) do
    if passed >= unit[1] then
      return ('%d %s ago'):format(math.floor(passed / unit[1]), unit[2])
    end
  end
  return 'just now'
end

---What a restore does to a file, by what the sidecar calls it.
local VERBS = { modified = 'change', created = 'bring back', deleted = 'delete' }
---Files that are named; of more there is a count.
local NAMED = 5

---@param preview { files: { uri: string, change: string }[], conflicts: string[], problems: string[] }
---@return string
local function outlook(preview)
  local parts = {}
  for index, file in ipairs(preview.files) do
    if index > NAMED then
      parts[#parts + 1] = ('%d more'):format(#preview.files - NAMED)
      break
    end
    local name = vim.fn.fnamemodify(vim.uri_to_fname(file.uri), ':~:.')
    parts[#parts + 1] = ('%s %s'):format(VERBS[file.change] or 'change', name)
  end
  local text = #parts > 0 and table.concat(parts, ', ') or 'change no file'
  if #preview.conflicts > 0 then
    -- Of a file the agent made and the user has edited the sidecar asks.
    text = ('%s; where you changed the same, nothing is lost unasked (%d)'):format(
      text,
      #preview.conflicts
    )
  end
  return text
end

---@param of acp.Session
---@param point { checkpointId: string, label: string }
local function confirm(of, point)
  local argument = { sessionId = of.id, checkpointId = point.checkpointId }
  client.execute('acp.checkpoint.preview', argument, function(err, preview)
    if err then
      tell.error(err)
      return
    end
    if #preview.files + #preview.conflicts == 0 then
      local why = preview.problems[1] or 'the files are as they were then'
      tell.info('nothing to restore: ' .. why)
      return
    end
    local what = outlook(preview)
    vim.ui.select({ 'No, leave the files as they are', 'Yes, restore' }, {
      prompt = ('Back to “%s”? This will %s. :Acp undo takes it back.'):format(point.label, what),
      kind = 'acp.restore',
    }, function(_, index)
      if index == 2 then
        review.execute('acp.checkpoint.restore', { argument })
      end
    end)
  end)
end

---Asks which one to go back to, the last one first.
function M.choose()
  session.execute('acp.checkpoint.list', nil, function(points)
    if #points == 0 then
      tell.info('no checkpoint yet: there is one a prompt')
      return
    end
    local of = session.current()
    vim.ui.select(vim.iter(points):rev():totable(), {
      prompt = 'Bring the files back to what they were at',
      kind = 'acp.checkpoint',
      format_item = function(point)
        return ('%d  %s  (%s)'):format(point.turn, point.label, ago(point.time))
      end,
    }, function(point)
      if point and of then
        confirm(of, point)
      end
    end)
  end)
end

return M
