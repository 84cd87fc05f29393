---Says something to the user, never so that a key would be needed to go on.
---
---Neovim asks for <Enter> after a message of more than one line, and takes the next key the
---user types for it. So one line is shown, and all of it is kept for |:Acp-messages|.
local M = {}

---Texts that are kept.
local KEPT = 100
local MORE = '… (:Acp messages)'

---@type string[]
local history = {}

---@return boolean
local function is_builtin()
  return debug.getinfo(vim.notify, 'S').source:find('vim/_editor.lua', 1, true) ~= nil
end

---@param line string
---@return string
local function shortened(line)
  local room = math.max(40, vim.v.echospace)
  if vim.fn.strdisplaywidth(line) <= room then
    return line
  end
  local length = vim.fn.strchars(line)
  while vim.fn.strdisplaywidth(line .. MORE) > room do
    length = length - 1
    line = vim.fn.strcharpart(line, 0, length)
  end
  return line .. MORE
end

---@param text string
---@param level integer
local function tell(text, level)
  history[#history + 1] = text
  if #history > KEPT then
    table.remove(history, 1)
  end
  if not is_builtin() then
    vim.notify(text, level, { title = 'acp' })
    return
  end
  -- A message right after another one would scroll, and that asks for <Enter> as well.
  vim.cmd.redraw()
  vim.notify(shortened('acp: ' .. vim.trim(text):gsub('%s*\n%s*', ' | ')), level)
end

---@param text string
function M.error(text)
  tell(text, vim.log.levels.ERROR)
end

---@param text string
function M.warn(text)
  tell(text, vim.log.levels.WARN)
end

---@param text string
function M.info(text)
  tell(text, vim.log.levels.INFO)
end

---Everything that was said, in a window.
function M.show()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, vim.split(table.concat(history, '\n\n'), '\n'))
  vim.bo[buf].modifiable = false
  vim.keymap.set('n', 'q', '<C-w>c', { buffer = buf, desc = 'Close the window' })
  vim.api.nvim_open_win(buf, true, { win = -1, split = 'below', height = 12 })
end

---@type lsp.Handler
function M.on_show_message(_, params)
  local levels = { M.error, M.warn }
  (levels[params.type] or M.info)(params.message or '')
end

return M
