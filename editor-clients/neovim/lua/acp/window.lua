---Windows that open beside the user's and leave the cursor where it is.
local config = require('acp.config')

local M = {}

---What our own buffers set in their window; a window made from one must not inherit it.
local BORROWED = {
  'number',
  'relativenumber',
  'signcolumn',
  'foldcolumn',
  'foldmethod',
  'foldexpr',
  'foldtext',
  'foldlevel',
  'wrap',
  'linebreak',
  'breakindent',
  'list',
  'spell',
  'cursorline',
  'winfixwidth',
  'winfixheight',
  'winbar',
}

---@param win integer
function M.reset_options(win)
  for _, name in ipairs(BORROWED) do
    local value = vim.api.nvim_get_option_value(name, { scope = 'global' })
    vim.api.nvim_set_option_value(name, value, { scope = 'local', win = win })
  end
end

---@param win integer
---@param options table<string, any>
function M.set_options(win, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { scope = 'local', win = win })
  end
end

---Whether the window is one of the user's: no float, not the agent's, no quickfix and such.
---@param win integer
---@return boolean
function M.is_users(win)
  return vim.api.nvim_win_is_valid(win)
    and vim.api.nvim_win_get_config(win).relative == ''
    and vim.w[win].acp ~= 'reveal'
    and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ''
end

---A window of the user's in this tab page: the current one, the one before, or any.
---@return integer?
function M.users()
  local candidates = { vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr('#')) }
  vim.list_extend(candidates, vim.api.nvim_tabpage_list_wins(0))
  return vim.iter(candidates):find(function(win)
    return win ~= 0 and M.is_users(win)
  end)
end

---Goes to a window of the user's, where the current one is none; makes one where there is none.
function M.enter_users()
  local target = M.users()
  if target then
    vim.api.nvim_set_current_win(target)
    return
  end
  vim.cmd.vsplit()
  M.reset_options(0)
  vim.w.acp = nil
end

---Whether the window holds nothing: the empty buffer Neovim starts with.
---@param win integer
---@return boolean
function M.is_blank(win)
  local buf = vim.api.nvim_win_get_buf(win)
  return vim.api.nvim_buf_get_name(buf) == ''
    and not vim.bo[buf].modified
    and vim.api.nvim_buf_line_count(buf) == 1
    and vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1] == ''
end

---@param anchor integer
---@return 'right'|'below'
local function free_side(anchor)
  return vim.api.nvim_win_get_width(anchor) >= 120 and 'right' or 'below'
end

---Opens a window on a buffer without entering it; nil where the screen has no room.
---@param buf integer
---@param place acp.Options.Window
---@param name string What the window is for; kept in `w:acp`.
---@return integer? win
---@return string? err
function M.open(buf, place, name)
  local anchor, side, split = M.users(), place.position, nil
  if side == 'auto' then
    anchor = anchor or vim.api.nvim_get_current_win()
    -- Beside a buffer of ours there is room; beside a file only on a wide screen.
    side = M.is_users(anchor) and free_side(anchor) or 'right'
    split = { win = anchor, split = side }
  else
    split = { win = -1, split = side }
  end
  if side == 'left' or side == 'right' then
    local whole = split.win == -1 and vim.o.columns or vim.api.nvim_win_get_width(split.win)
    split.width = config.cells(place.size, whole)
  else
    local whole = split.win == -1 and vim.o.lines or vim.api.nvim_win_get_height(split.win)
    split.height = config.cells(place.size, whole)
  end
  local opened, win = pcall(vim.api.nvim_open_win, buf, false, split)
  if not opened then
    return nil, (tostring(win):gsub('^.-(E%d+:)', '%1'))
  end
  M.reset_options(win)
  vim.w[win].acp = name
  return win, nil
end

return M
