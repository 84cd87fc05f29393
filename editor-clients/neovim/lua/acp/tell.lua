---Says something to the user, never so that a key would be needed to go on.
---
---Neovim asks for <Enter> after a message of more than one line, and takes the next key the
---user types for it. So the whole text goes to |:messages| unseen, and one line is shown.
local M = {}

---@return boolean
local function is_builtin()
  return debug.getinfo(vim.notify, 'S').source:find('vim/_editor.lua', 1, true) ~= nil
end

---@param text string
---@param level integer
local function tell(text, level)
  if not is_builtin() then
    vim.notify(text, level, { title = 'acp' })
    return
  end
  local line = 'acp: ' .. vim.trim(text):gsub('%s*\n%s*', ' | ')
  local room = math.max(20, vim.v.echospace)
  if vim.fn.strdisplaywidth(line) > room then
    for _, part in ipairs(vim.split(text, '\n', { plain = true })) do
      vim.cmd.echomsg({ args = { vim.fn.string(part) }, mods = { silent = true } })
    end
    local short = line
    while vim.fn.strdisplaywidth(short) > room - 1 do
      short = vim.fn.strcharpart(short, 0, vim.fn.strchars(short) - 1)
    end
    line = short .. '…'
  end
  -- A message right after another one would scroll, and that asks for <Enter> as well.
  vim.cmd.redraw()
  vim.notify(line, level)
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

---@type lsp.Handler
function M.on_show_message(_, params)
  local levels = { M.error, M.warn }
  (levels[params.type] or M.info)(params.message or '')
end

return M
