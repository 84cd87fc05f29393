---A hunk in a floating window: what went, what came. Asked for again it is entered.
local changes = require('acp.changes')
local drawing = require('acp.drawing')
local tell = require('acp.tell')
local texts = require('acp.texts')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.preview')

local WORDS = {
  added = 'added',
  changed = 'changed',
  removed = 'removed',
  conflict = 'conflict: you changed it too',
  proposed = 'would be written: keep takes it, revert refuses it',
}

---@param hunk acp.Hunk
---@param buf integer
---@param here acp.HunkHere
---@return string[] old
---@return string[] new
local function sides(hunk, buf, here)
  local lines = {}
  if hunk.count > 0 then
    lines = vim.api.nvim_buf_get_lines(buf, here.first, here.last + 1, false)
  end
  local known = texts.get(hunk)
  if hunk.proposed then
    return lines, known and known.new or {}
  end
  return known and known.old or {}, lines
end

---@param old string[]
---@param new string[]
---@return string[] lines
---@return string[] groups
local function compose(old, new)
  local lines, groups = {}, {}
  for _, side in ipairs({ { '-', old, 'AcpDiffDelete' }, { '+', new, 'AcpDiffAdd' } }) do
    for _, line in ipairs(side[2]) do
      lines[#lines + 1] = side[1] .. texts.shown(line)
      groups[#lines] = side[3]
    end
  end
  return lines, groups
end

---@param here acp.HunkHere
---@param buf integer
local function show(here, buf)
  local hunk = here.hunk
  local lines, groups = compose(sides(hunk, buf, here))
  if #lines == 0 then
    local file = changes.of(hunk.name)
    lines = { file and changes.note(file) or 'nothing to show' }
  end
  require('acp.highlight').define()
  local float, win = vim.lsp.util.open_floating_preview(lines, '', {
    border = 'rounded',
    title = (' %s %s '):format(changes.counts(hunk), WORDS[hunk.kind]),
    focus_id = 'acp.hunk',
    close_events = { 'CursorMoved', 'CursorMovedI', 'InsertCharPre' },
    wrap = false,
  })
  vim.w[win].acp = 'preview'
  for row, group in pairs(groups) do
    vim.api.nvim_buf_set_extmark(float, namespace, row - 1, 0, {
      end_row = row,
      hl_group = group,
      hl_eol = true,
      strict = false,
    })
  end
end

---Shows the hunk under the cursor.
function M.open()
  local buf, win = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  local cursor = vim.api.nvim_win_get_cursor(win)
  local here = drawing.at(buf, cursor[1] - 1)
  if not here then
    tell.info('no change of the agent here')
    return
  end
  local file = changes.of(here.hunk.name)
  if texts.get(here.hunk) or not file or here.hunk.before.lines == 0 then
    show(here, buf)
    return
  end
  texts.want(file, function()
    local is_here = vim.api.nvim_get_current_win() == win
      and vim.api.nvim_win_get_buf(win) == buf
      and vim.deep_equal(vim.api.nvim_win_get_cursor(win), cursor)
    if is_here then
      show(here, buf)
    end
  end)
end

return M
