---Draws the hunks of a buffer: signs beside the lines, the old lines above the new ones.
---
---The marks are Neovim's own and go along with what the user types. What the sidecar says next
---is compared with them, and only what differs is drawn.
local changes = require('acp.changes')
local config = require('acp.config')
local rows = require('acp.rows')
local scroll = require('acp.scroll')
local texts = require('acp.texts')

local M = {}

local signs = vim.api.nvim_create_namespace('acp.signs')
local lines = vim.api.nvim_create_namespace('acp.lines')
local words = vim.api.nvim_create_namespace('acp.words')

---Milliseconds without a key in Insert mode before marks are moved: what the sidecar says
---then may be of the text of a moment ago.
local QUIET = 250
---More than the columns of any line: its end.
local END = 2147483647

---@class acp.Placed
---@field hunk acp.Hunk
---@field sign integer
---@field line? integer The mark of the virtual lines.
---@field words integer[] The marks of what differs within the lines.
---@field look string What is drawn; another look is another drawing.

---@type table<integer, table<string, acp.Placed>>
local placed = {}
---@type table<integer, integer> The mark that says what happened to the file.
local notes = {}
---@type table<integer, number>
local typed = {}
---@type table<integer, boolean>
local due = {}
---@type boolean? Nil as long as the option says it.
local shows_lines

---@return boolean
function M.shows_lines()
  if shows_lines == nil then
    return config.get().review.virtual_lines
  end
  return shows_lines
end

---@param buf integer
---@return acp.ChangedFile?
local function file_of(buf)
  if not vim.api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= '' then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(buf)
  return name ~= '' and changes.of(name) or nil
end

---Whether the buffer is compared in the tab page: lines that are not in it would shift it.
---@param buf integer
---@return boolean
local function is_compared(buf)
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):any(function(win)
    return vim.api.nvim_win_get_buf(win) == buf and vim.wo[win].diff
  end)
end

---@param hunk acp.Hunk
---@return string
local function sign_of(hunk)
  if hunk.kind == 'removed' and hunk.first == 0 then
    return 'topremoved'
  end
  return hunk.kind
end

local NAMES = {
  added = 'Added',
  changed = 'Changed',
  removed = 'Removed',
  topremoved = 'Removed',
  conflict = 'Conflict',
  proposed = 'Proposed',
}

---@param hunk acp.Hunk
---@param inline boolean
---@return string?
local function line_highlight(hunk, inline)
  if hunk.count == 0 or not config.get().review.line_highlights then
    return nil
  elseif hunk.proposed then
    return 'AcpRefusedLine'
  end
  -- Of a file that is new as a whole all lines would be.
  return inline and hunk.status ~= 'created' and 'AcpNewLine' or nil
end

---@param hunk acp.Hunk
---@return table[][]?
local function virtual_lines(hunk)
  local known = (hunk.proposed or M.shows_lines()) and texts.get(hunk)
  local drawn = known and known.drawn
  return drawn and #drawn > 0 and drawn or nil
end

---@param buf integer
---@param mark acp.Placed
local function remove_lines(buf, mark)
  if mark.line then
    vim.api.nvim_buf_del_extmark(buf, lines, mark.line)
  end
  for _, word in ipairs(mark.words) do
    vim.api.nvim_buf_del_extmark(buf, words, word)
  end
end

---@param buf integer
---@param hunk acp.Hunk
---@param first integer
---@return integer[]
local function put_words(buf, hunk, first)
  local known = config.get().review.line_highlights and texts.get(hunk)
  local marks = {}
  for index, word in ipairs(known and known.words or {}) do
    if word.new[1] < word.new[2] then
      marks[#marks + 1] = vim.api.nvim_buf_set_extmark(buf, words, first + index - 1, word.new[1], {
        end_col = word.new[2],
        hl_group = 'AcpNewText',
        -- Over the line's own colour.
        priority = 210,
        strict = false,
      })
    end
  end
  return marks
end

---@param buf integer
---@param hunk acp.Hunk
---@param old? acp.Placed
---@param inline boolean
---@param drawn? table[][]
---@return acp.Placed
local function put(buf, hunk, old, inline, drawn)
  local count = vim.api.nvim_buf_line_count(buf)
  local first, last = rows.of_sign(hunk, count)
  local options = config.get().review
  local sign = sign_of(hunk)
  local hl = 'AcpSign' .. NAMES[sign]
  local new = { hunk = hunk, words = {} }
  new.sign = vim.api.nvim_buf_set_extmark(buf, signs, first, 0, {
    id = old and old.sign,
    end_row = last,
    end_col = END,
    strict = false,
    -- A mark of no lines stays where lines were removed.
    invalidate = hunk.count > 0,
    sign_text = options.signs[sign] ~= '' and options.signs[sign] or nil,
    sign_hl_group = hl,
    number_hl_group = options.number_highlights and hl or nil,
    line_hl_group = line_highlight(hunk, inline),
    priority = options.sign_priority,
  })
  if old then
    remove_lines(buf, old)
  end
  if drawn then
    if inline then
      new.words = put_words(buf, hunk, first)
    end
    local row, above = rows.of_lines(hunk, count)
    new.line = vim.api.nvim_buf_set_extmark(buf, lines, row, 0, {
      virt_lines = drawn,
      virt_lines_above = above,
    })
  end
  return new
end

---@param buf integer
---@param file acp.ChangedFile?
local function put_note(buf, file)
  local note = file and changes.note(file)
  if note then
    notes[buf] = vim.api.nvim_buf_set_extmark(buf, lines, 0, 0, {
      id = notes[buf],
      virt_text = { { '  ' .. texts.shown(note), 'AcpNote' } },
      virt_text_pos = 'eol',
    })
  elseif notes[buf] then
    vim.api.nvim_buf_del_extmark(buf, lines, notes[buf])
    notes[buf] = nil
  end
end

---What other plugins and status lines may read.
---@param buf integer
---@param file acp.ChangedFile?
local function publish(buf, file)
  if not file then
    vim.b[buf].acp_changes = nil
    return
  end
  local counts = { added = 0, changed = 0, removed = 0, conflict = 0, proposed = 0 }
  for _, hunk in ipairs(file.hunks) do
    counts[hunk.kind] = counts[hunk.kind] + 1
  end
  vim.b[buf].acp_changes = counts
end

---@param buf integer
local function clear(buf)
  placed[buf], notes[buf] = nil, nil
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, signs, 0, -1)
    vim.api.nvim_buf_clear_namespace(buf, lines, 0, -1)
    vim.api.nvim_buf_clear_namespace(buf, words, 0, -1)
    publish(buf, nil)
  end
end

---@param buf integer
---@return table<integer, { row: integer, last: integer }> # Marks by id.
local function positions(buf)
  local found = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, signs, 0, -1, { details = true })) do
    if not mark[4].invalid then
      found[mark[1]] = { row = mark[2], last = mark[4].end_row or mark[2] }
    end
  end
  return found
end

---@param buf integer
---@param file acp.ChangedFile
local function update(buf, file)
  local old, new = placed[buf] or {}, {}
  local compared = is_compared(buf)
  local inline = M.shows_lines() and not compared
  local count = vim.api.nvim_buf_line_count(buf)
  local is_empty = count == 1 and vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1] == ''
  local at = positions(buf)
  local is_above_first = false
  local hunks = texts.has_lone_returns(file.name) and rows.by_neovim(buf, file.hunks) or file.hunks
  for _, hunk in ipairs(hunks) do
    local key = hunk.session .. '\0' .. hunk.id
    local known = old[key]
    -- A file that is gone from the disk may be in its buffer still.
    local is_here = hunk.status ~= 'deleted' or is_empty
    local drawn = is_here and not compared and virtual_lines(hunk) or nil
    local first, last = rows.of_sign(hunk, count)
    local look = ('%s %s %s'):format(sign_of(hunk), tostring(inline), tostring(drawn))
    local mark = known and at[known.sign]
    if mark and known.look == look and mark.row == first and mark.last == last then
      known.hunk = hunk
      new[key] = known
    else
      new[key] = put(buf, hunk, known, inline, drawn)
      new[key].look = look
      if drawn and hunk.first == 0 and not (hunk.proposed and hunk.count > 0) then
        is_above_first = true
      end
    end
    old[key] = nil
  end
  for _, gone in pairs(old) do
    vim.api.nvim_buf_del_extmark(buf, signs, gone.sign)
    remove_lines(buf, gone)
  end
  placed[buf] = new
  put_note(buf, file)
  publish(buf, file)
  if is_above_first then
    scroll.above_first(buf)
  end
end

---Draws a buffer as it was told last.
---@param buf integer
function M.draw(buf)
  local file = file_of(buf)
  if file then
    update(buf, file)
  elseif placed[buf] then
    clear(buf)
  end
end

---@param buf integer
local function draw_when_quiet(buf)
  local rest = QUIET - (vim.uv.now() - (typed[buf] or -QUIET))
  if rest <= 0 or not vim.startswith(vim.api.nvim_get_mode().mode, 'i') then
    M.draw(buf)
  elseif not due[buf] then
    due[buf] = true
    vim.defer_fn(function()
      due[buf] = nil
      if vim.api.nvim_buf_is_valid(buf) then
        draw_when_quiet(buf)
      end
    end, rest)
  end
end

---Draws a buffer and asks for the lines that are not known yet.
---@param buf integer
local function look_at(buf)
  local file = file_of(buf)
  if not file and not placed[buf] then
    return
  end
  require('acp.highlight').define()
  draw_when_quiet(buf)
  if file then
    texts.want(file, function()
      if vim.api.nvim_buf_is_valid(buf) then
        draw_when_quiet(buf)
      end
    end)
  end
end

---Draws every loaded buffer: something else waits for review.
function M.refresh()
  texts.prune()
  vim.iter(vim.api.nvim_list_bufs()):each(look_at)
end

---Shows the old lines, or hides them.
---@param word? 'on'|'off' The other one than now where it is left out.
function M.toggle_lines(word)
  if word then
    shows_lines = word == 'on'
  else
    shows_lines = not M.shows_lines()
  end
  vim.iter(vim.api.nvim_list_bufs()):each(M.draw)
end

---@class acp.HunkHere
---@field hunk acp.Hunk
---@field first integer 0-based line in the buffer, wherever it is now.
---@field last integer The same as `first` where the hunk has no lines.
---@field row integer Where the cursor goes for it.

---The hunks of a buffer where they are now, from top to bottom.
---@param buf integer
---@return acp.HunkHere[]
function M.hunks(buf)
  buf = buf == 0 and vim.api.nvim_get_current_buf() or buf
  local at = placed[buf] and positions(buf) or {}
  local count = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_line_count(buf) or 0
  local found = {}
  for _, one in pairs(placed[buf] or {}) do
    local mark = at[one.sign]
    if mark then
      local hunk = one.hunk
      local first = mark.row
      if hunk.count == 0 and hunk.first > 0 then
        first = first + 1
      end
      local last = hunk.count > 0 and mark.last or first
      local row = math.max(0, math.min(first, count - 1))
      found[#found + 1] = { hunk = hunk, first = first, last = last, row = row }
    end
  end
  table.sort(found, function(one, other)
    if one.first ~= other.first then
      return one.first < other.first
    elseif one.hunk.count ~= other.hunk.count then
      return one.hunk.count < other.hunk.count
    end
    return one.hunk.id < other.hunk.id
  end)
  return found
end

---The buffers in which something is drawn, by the name of their file in the list of changes.
---@return table<string, integer>
function M.buffers()
  local found = {}
  for buf in pairs(placed) do
    local file = file_of(buf)
    if file then
      found[file.name] = buf
    end
  end
  return found
end

---The hunk on a line: one of its lines, or the lines that were removed above or below it.
---@param buf integer
---@param row integer 0-based
---@return acp.HunkHere?
function M.at(buf, row)
  local hunks = M.hunks(buf)
  local function first_where(is_it)
    return vim.iter(hunks):find(is_it)
  end
  return first_where(function(one)
    return one.hunk.count > 0 and one.first <= row and row <= one.last
  end) or first_where(function(one)
    return one.hunk.count == 0 and one.row == row
  end) or first_where(function(one)
    return one.hunk.count == 0 and one.first == row + 1
  end)
end

---@param group integer
function M.watch(group)
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on({ 'BufReadPost', 'BufNewFile', 'BufFilePost', 'FileChangedShellPost', 'BufWinEnter' }, function(args)
    look_at(args.buf)
  end)
  on('TextChangedI', function(args)
    typed[args.buf] = vim.uv.now()
  end)
  -- Whether a buffer is compared may be another thing now.
  on({ 'DiffUpdated', 'TabEnter', 'WinClosed' }, function()
    vim.schedule(function()
      for buf in pairs(placed) do
        M.draw(buf)
      end
    end)
  end)
  on('BufUnload', function(args)
    -- Also before it is loaded anew; what was drawn would be somewhere in it.
    clear(args.buf)
    typed[args.buf] = nil
  end)
  on('ColorScheme', function()
    require('acp.highlight').define()
  end)
end

return M
