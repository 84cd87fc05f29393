---The floating window of a question. It has to be entered to be answered.
---
---Nothing is preselected, neither <C-w>w nor the mouse leads into it by chance, and when it
---closes the cursor is back where it was: the next question has to be entered anew.
local blocks = require('acp.blocks')
local config = require('acp.config')
local event = require('acp.event')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.question')

---@class acp.Option
---@field id any What answers the request where this option is chosen.
---@field title string
---@field kind? string

---@class acp.Question
---@field key string
---@field head string
---@field short? string What it asks, for a list of what waits.
---@field lines acp.Line[]
---@field options acp.Option[]
---@field diffs { path: string, oldText?: string, newText: string }[]
---@field reply fun(result: any)

---@class acp.QuestionWindow
---@field win integer
---@field buf integer
---@field key string
---@field rows table<integer, integer> Option by 1-based line.
---@field comparisons (fun())[] Closes what was opened to look at the question's changes.
---@field came_from? integer

---@type acp.QuestionWindow?
local shown

---Characters that cannot be seen, or change how others are: controls, odd blanks, directions,
---joiners, fillers, tags, and those without a meaning of their own.
local HIDDEN = {
  { 0x00, 0x1f },
  { 0x7f, 0xa0 },
  { 0xad, 0xad },
  { 0x34f, 0x34f },
  { 0x61c, 0x61c },
  { 0x115f, 0x1160 },
  { 0x1680, 0x1680 },
  { 0x17b4, 0x17b5 },
  { 0x180b, 0x180f },
  { 0x2000, 0x200f },
  { 0x2028, 0x202f },
  { 0x205f, 0x206f },
  { 0x2800, 0x2800 },
  { 0x3000, 0x3000 },
  { 0x3164, 0x3164 },
  { 0xe000, 0xf8ff },
  { 0xfeff, 0xfeff },
  { 0xffa0, 0xffa0 },
  { 0xfff0, 0xfffb },
  { 0x1bca0, 0x1bca3 },
  { 0x1d173, 0x1d17a },
  { 0xe0000, 0x10ffff },
}

---@param character string
---@return string
local function visible(character)
  local code = vim.fn.char2nr(character, true)
  for _, range in ipairs(HIDDEN) do
    if code >= range[1] and code <= range[2] then
      return code == 9 and '  ' or ('<%04x>'):format(code)
    end
  end
  return character
end

---The text with every character that could hide or fake something shown as its number.
---@param text string
---@return string
function M.plainly(text)
  if not text:find('[^ -~]') then
    return text
  end
  -- By code point: a combining character is one of its own.
  return (text:gsub('[%z\1-\127\194-\244][\128-\191]*', visible))
end

---@param lines acp.Line[]
---@param text string
---@param hl? string
function M.add(lines, text, hl)
  for _, line in ipairs(blocks.split(text)) do
    lines[#lines + 1] = { text = M.plainly(line), hl = hl }
  end
end

---Whether this question is on the screen.
---@param key string
---@return boolean
function M.is_shown(key)
  return shown ~= nil and shown.key == key and vim.api.nvim_win_is_valid(shown.win)
end

---Closes the window; who was in it is back where they were.
function M.close()
  local old = shown
  shown = nil
  if not old then
    return
  end
  for _, close in ipairs(old.comparisons) do
    close()
  end
  local inside = vim.api.nvim_get_current_win() == old.win
  if inside and old.came_from and vim.api.nvim_win_is_valid(old.came_from) then
    vim.api.nvim_set_current_win(old.came_from)
  end
  if vim.api.nvim_win_is_valid(old.win) then
    vim.api.nvim_win_close(old.win, true)
  end
  if vim.api.nvim_buf_is_valid(old.buf) then
    vim.api.nvim_buf_delete(old.buf, { force = true })
  end
end

---@param question acp.Question
---@param others string[]
---@return acp.Line[] lines
---@return table<integer, integer> rows
local function compose(question, others)
  local lines = vim.deepcopy(question.lines)
  local rows = {}
  M.add(lines, '')
  M.add(lines, 'Your answer:', 'AcpQuestion')
  for index, option in ipairs(question.options) do
    M.add(lines, ('  %d  %s'):format(index, option.title), 'AcpOption')
    rows[#lines] = index
  end
  for _, diff in ipairs(question.diffs) do
    M.add(lines, '')
    for _, line in ipairs(blocks.diff(diff.path, diff.oldText, diff.newText)) do
      lines[#lines + 1] = { text = M.plainly(line.text), hl = line.hl }
    end
  end
  if #others > 0 then
    M.add(lines, '')
    M.add(lines, ('%d more waiting:'):format(#others), 'AcpDetail')
    for _, head in ipairs(others) do
      M.add(lines, '  ' .. head, 'AcpDetail')
    end
  end
  return lines, rows
end

---Where the window does not lie over the line the user works on.
---@param height integer
---@return integer row
local function free_row(height)
  local position = vim.fn.screenpos(0, vim.fn.line('.'), vim.fn.col('.')).row
  local bottom = vim.o.lines - vim.o.cmdheight - 1 - height - 2
  return position > vim.o.lines / 2 and 1 or math.max(1, bottom)
end

---@param head string
---@param lines acp.Line[]
---@return table
local function geometry(head, lines)
  local width = math.max(40, vim.fn.strdisplaywidth(head) + 2)
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line.text))
  end
  width = math.min(width, config.get().permission.width, vim.o.columns - 4)
  local height = 0
  for _, line in ipairs(lines) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line.text) / width))
  end
  height = math.max(1, math.min(height, math.floor(vim.o.lines * 0.6), vim.o.lines - 5))
  return {
    relative = 'editor',
    row = free_row(height),
    col = math.max(0, vim.o.columns - width - 3),
    width = width,
    height = height,
  }
end

---@param buf integer
---@param lines acp.Line[]
local function write(buf, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, vim.tbl_map(function(line)
    return line.text
  end, lines))
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for row, line in ipairs(lines) do
    if line.hl then
      vim.api.nvim_buf_set_extmark(buf, namespace, row - 1, 0, {
        end_row = row,
        hl_group = line.hl,
        hl_eol = true,
        strict = false,
      })
    end
  end
end

---@param question acp.Question
---@param buf integer
---@param choose fun(index: integer)
local function keys(question, buf, choose)
  local function map(lhs, rhs, desc)
    vim.keymap.set('n', lhs, rhs, { buffer = buf, desc = desc, nowait = true })
  end
  map('<CR>', function()
    local index = shown and shown.rows[vim.fn.line('.')]
    if index then
      choose(index)
    end
  end, 'Give the answer under the cursor')
  for index = 1, math.min(9, #question.options) do
    map(tostring(index), function()
      for row, option in pairs(shown and shown.rows or {}) do
        if option == index then
          vim.api.nvim_win_set_cursor(0, { row, 0 })
        end
      end
    end, 'Go to this answer')
  end
  map('q', M.leave, 'Leave the question waiting')
  map('<Esc>', M.leave, 'Leave the question waiting')
  map('D', function()
    local there = shown
    for _, diff in ipairs(question.diffs) do
      local close = require('acp.compare').open(diff.path, diff.oldText or '', diff.newText)
      if there then
        table.insert(there.comparisons, close)
      end
    end
  end, 'Show the change side by side')
end

---Draws a question without entering its window.
---@param question acp.Question
---@param others string[] What else waits.
---@param choose fun(index: integer) Called with the option the user has chosen.
function M.show(question, others, choose)
  require('acp.highlight').define()
  local lines, rows = compose(question, others)
  if shown and M.is_shown(question.key) then
    write(shown.buf, lines)
    shown.rows = rows
    vim.api.nvim_win_set_config(shown.win, geometry(question.head, lines))
    return
  end
  M.close()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'hide'
  write(buf, lines)
  vim.bo[buf].filetype = 'acp-question'
  local win = vim.api.nvim_open_win(
    buf,
    false,
    vim.tbl_extend('error', geometry(question.head, lines), {
      style = 'minimal',
      border = 'rounded',
      title = ' ' .. question.head .. ' ',
      title_pos = 'left',
      footer = ' :Acp permission goes here | a number, <CR> answers | D diff | q leaves ',
      footer_pos = 'right',
      focusable = false,
      zindex = 60,
      noautocmd = true,
    })
  )
  vim.wo[win].wrap = true
  vim.wo[win].linebreak = true
  vim.w[win].acp = 'permission'
  shown = { win = win, buf = buf, key = question.key, rows = rows, comparisons = {} }
  keys(question, buf, choose)
  vim.cmd.redraw()
end

---Goes into the window, on a line that answers nothing.
function M.enter()
  local there = shown
  if not there or vim.api.nvim_get_current_win() == there.win then
    return
  end
  vim.cmd.stopinsert()
  there.came_from = vim.api.nvim_get_current_win()
  vim.api.nvim_set_current_win(there.win)
  local rows = vim.tbl_keys(there.rows)
  table.sort(rows)
  vim.api.nvim_win_set_cursor(there.win, { rows[1] and rows[1] - 1 or 1, 0 })
  event.emit('PermissionEntered', { requestId = there.key })
end

---Goes back; the question stays.
function M.leave()
  if shown and shown.came_from and vim.api.nvim_win_is_valid(shown.came_from) then
    vim.api.nvim_set_current_win(shown.came_from)
  else
    vim.cmd.wincmd('p')
  end
end

return M
