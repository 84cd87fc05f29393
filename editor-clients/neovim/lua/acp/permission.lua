---Questions of the agent, in a floating window that has to be entered to be answered.
---
---Nothing is preselected, nothing typed in another window reaches it, and after an answer
---the cursor is back where it was: the next question has to be entered anew.
local blocks = require('acp.blocks')
local config = require('acp.config')
local event = require('acp.event')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.permission')

---@class acp.Option
---@field id any What answers the request where this option is chosen.
---@field title string
---@field kind? string

---@class acp.Question
---@field key string
---@field head string
---@field lines acp.Line[]
---@field options acp.Option[]
---@field diffs { path: string, oldText?: string, newText: string }[]
---@field reply fun(result: any)

---@type acp.Question[]
local queue = {}

---@class acp.QuestionWindow
---@field win integer
---@field buf integer
---@field key string
---@field rows table<integer, integer> Option by 1-based line.
---@field came_from? integer

---@type acp.QuestionWindow?
local shown

---The question on the screen changed while a command was being typed: that command was
---meant for the one before.
local changed_under_command = false

---Characters that change how a line looks without being seen.
---@param text string
---@return string
local function plainly(text)
  return (
    text
      :gsub('%c', function(character)
        return character == '\t' and '  ' or ('<%02x>'):format(character:byte())
      end)
      -- U+061C, U+200B..200F, U+202A..202E, U+2060..206F, U+FEFF
      :gsub('\216\156', '<061c>')
      :gsub('\226\128[\139-\143\170-\174]', function(bytes)
        return ('<%04x>'):format(vim.fn.char2nr(bytes))
      end)
      :gsub('\226\129[\160-\175]', function(bytes)
        return ('<%04x>'):format(vim.fn.char2nr(bytes))
      end)
      :gsub('\239\187\191', '<feff>')
  )
end

---@param lines acp.Line[]
---@param text string
---@param hl? string
local function add(lines, text, hl)
  for _, line in ipairs(blocks.split(text)) do
    lines[#lines + 1] = { text = plainly(line), hl = hl }
  end
end

---@param params table The params of `acp/permission`.
---@return acp.Line[]
local function describe(params)
  local lines = {}
  local message = params.message or ''
  add(lines, message ~= '' and message or (params.title or 'The agent asks for permission'))
  -- The message says all of it; a sidecar that left something out must not hide it.
  local facts = { { 'Kind', params.kind }, { 'Command', params.command }, { 'Folder', params.cwd } }
  for _, path in ipairs(params.paths or {}) do
    facts[#facts + 1] = { 'Path', path }
  end
  for _, fact in ipairs(facts) do
    local name, value = fact[1], fact[2]
    local is_said = name == 'Kind' and message ~= ''
    if value and not is_said and not message:find(value, 1, true) then
      add(lines, ('%s: %s'):format(name, value))
    end
  end
  return lines
end

local function close_window()
  local old = shown
  shown = nil
  if not old then
    return
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
---@return acp.Line[] lines
---@return table<integer, integer> rows
local function compose(question)
  local lines = vim.deepcopy(question.lines)
  local rows = {}
  add(lines, '')
  add(lines, 'Your answer:', 'AcpQuestion')
  for index, option in ipairs(question.options) do
    add(lines, ('  %d  %s'):format(index, option.title), 'AcpOption')
    rows[#lines] = index
  end
  for _, diff in ipairs(question.diffs) do
    add(lines, '')
    for _, line in ipairs(blocks.diff(diff.path, diff.oldText, diff.newText)) do
      lines[#lines + 1] = { text = plainly(line.text), hl = line.hl }
    end
  end
  local others = #queue - 1
  if others > 0 then
    add(lines, '')
    add(lines, ('%d more waiting:'):format(others), 'AcpDetail')
    for index = 2, #queue do
      add(lines, '  ' .. queue[index].head, 'AcpDetail')
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

---@param lines acp.Line[]
---@return table
local function geometry(lines)
  local width = 40
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

---@param key string
---@param result any
local function answer(key, result)
  for index, question in ipairs(queue) do
    if question.key == key then
      table.remove(queue, index)
      M.show()
      question.reply(result)
      return
    end
  end
end

---@param question acp.Question
---@param index integer
local function choose(question, index)
  local option = question.options[index]
  event.emit('PermissionAnswered', { requestId = question.key, title = option.title })
  answer(question.key, option.id)
end

---@param question acp.Question
---@param buf integer
local function keys(question, buf)
  local function map(lhs, rhs, desc)
    vim.keymap.set('n', lhs, rhs, { buffer = buf, desc = desc, nowait = true })
  end
  map('<CR>', function()
    local index = shown and shown.rows[vim.fn.line('.')]
    if index then
      choose(question, index)
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
  map('D', M.diff, 'Show the change side by side')
end

---Draws the first question of the queue; closes the window where none waits.
function M.show()
  local question = queue[1]
  local same = shown ~= nil and question ~= nil and shown.key == question.key
  if not same then
    changed_under_command = vim.api.nvim_get_mode().mode:sub(1, 1) == 'c'
    close_window()
  end
  if not question then
    return
  end
  require('acp.highlight').define()
  local lines, rows = compose(question)
  if same and shown and vim.api.nvim_win_is_valid(shown.win) then
    write(shown.buf, lines)
    shown.rows = rows
    vim.api.nvim_win_set_config(shown.win, geometry(lines))
    return
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'hide'
  write(buf, lines)
  vim.bo[buf].filetype = 'acp-question'
  local win = vim.api.nvim_open_win(
    buf,
    false,
    vim.tbl_extend('error', geometry(lines), {
      style = 'minimal',
      border = 'rounded',
      title = ' ' .. question.head .. ' ',
      title_pos = 'left',
      footer = ' :Acp permission ',
      footer_pos = 'right',
      -- Neither <C-w>w nor the mouse leads here by chance.
      focusable = false,
      zindex = 60,
      noautocmd = true,
    })
  )
  vim.wo[win].wrap = true
  vim.wo[win].linebreak = true
  vim.wo[win].winhighlight = 'NormalFloat:NormalFloat'
  vim.w[win].acp = 'permission'
  shown = { win = win, buf = buf, key = question.key, rows = rows }
  keys(question, buf)
  vim.cmd.redraw()
end

---@param question acp.Question
local function ask(question)
  queue[#queue + 1] = question
  event.emit('PermissionAsked', {
    requestId = question.key,
    head = question.head,
    lines = vim.tbl_map(function(line)
      return line.text
    end, question.lines),
    options = vim.tbl_map(function(option)
      return option.title
    end, question.options),
  })
  M.show()
  vim.cmd.redrawstatus({ bang = true })
end

---Questions that wait, first the one on the screen.
---@return acp.Question[]
function M.waiting()
  return queue
end

---Goes into the window, on a line that answers nothing.
function M.enter()
  local question = queue[1]
  if not question then
    vim.notify('acp: no question is waiting', vim.log.levels.INFO)
    return
  end
  if not shown or not vim.api.nvim_win_is_valid(shown.win) then
    shown = nil
    M.show()
  end
  local there = assert(shown)
  if vim.api.nvim_get_current_win() == there.win then
    return
  end
  vim.cmd.stopinsert()
  there.came_from = vim.api.nvim_get_current_win()
  vim.api.nvim_set_current_win(there.win)
  local first = math.huge
  for row in pairs(there.rows) do
    first = math.min(first, row)
  end
  vim.api.nvim_win_set_cursor(there.win, { first == math.huge and 1 or first - 1, 0 })
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

---Answers the question on the screen with one of its options, by its title or number.
---@param words string
function M.answer(words)
  local question = queue[1]
  if not question then
    vim.notify('acp: no question is waiting', vim.log.levels.WARN)
    return
  end
  if changed_under_command then
    changed_under_command = false
    vim.notify('acp: the question has changed meanwhile; look again', vim.log.levels.WARN)
    return
  end
  for index, option in ipairs(question.options) do
    if option.title == words or tostring(index) == words then
      choose(question, index)
      return
    end
  end
  local titles = vim.tbl_map(function(option)
    return option.title
  end, question.options)
  vim.notify('acp: the answers are: ' .. table.concat(titles, ', '), vim.log.levels.ERROR)
end

---Closes the question on the screen without an answer. That approves nothing.
function M.dismiss()
  if queue[1] then
    answer(queue[1].key, vim.NIL)
  end
end

---Shows the proposed change side by side, in a tab page of its own.
function M.diff()
  local question = queue[1]
  for _, diff in ipairs(question and question.diffs or {}) do
    require('acp.review').side_by_side(diff.path, diff.oldText or '', diff.newText)
  end
end

---@param key string
local function withdraw(key)
  for index, question in ipairs(queue) do
    if question.key == key then
      table.remove(queue, index)
      event.emit('PermissionWithdrawn', { requestId = key })
      M.show()
      vim.cmd.redrawstatus({ bang = true })
      -- Nobody waits for this any more, but the request must not stay open for ever.
      question.reply(vim.NIL)
      return
    end
  end
end

---Closes every question, unanswered: the sidecar is gone.
function M.close_all()
  queue = {}
  close_window()
end

-- What the sidecar sends.

---Suspends the handler until the user has answered. Neovim calls it in a coroutine.
---@param question acp.Question
---@return any
local function wait_for(question)
  local thread = assert(coroutine.running(), 'a question needs a coroutine to wait in')
  question.reply = function(result)
    -- Scheduled: the answer may come before the handler has begun to wait.
    vim.schedule(function()
      local resumed, err = coroutine.resume(thread, result)
      if not resumed then
        vim.notify('acp: ' .. tostring(err), vim.log.levels.ERROR)
      end
    end)
  end
  ask(question)
  return coroutine.yield()
end

---@type lsp.Handler
function M.on_permission(_, params)
  local options = vim.tbl_map(function(option)
    return {
      id = { optionId = option.optionId },
      title = plainly(option.title or option.name or option.optionId),
      kind = option.kind,
    }
  end, params.options or {})
  return wait_for({
    key = params.requestId,
    head = plainly(('%s asks: %s'):format(params.agent or 'The agent', params.kind or 'other')),
    lines = describe(params),
    options = options,
    diffs = params.diffs or {},
    reply = function() end,
  })
end

local messages = 0

---In place of Neovim's own, which takes the user's next line for the answer.
---@type lsp.Handler
function M.on_message_request(_, params)
  local lines = {}
  add(lines, params.message or '')
  messages = messages + 1
  return wait_for({
    key = 'message-' .. messages,
    head = 'acp-sidecar asks',
    lines = lines,
    options = vim.tbl_map(function(action)
      return { id = action, title = plainly(action.title) }
    end, params.actions or {}),
    diffs = {},
    reply = function() end,
  })
end

---A request was withdrawn. Neovim does not tell a handler its request's id, so ask what waits.
---@type lsp.Handler
function M.on_cancel_request()
  local asked = vim.tbl_map(function(question)
    return question.key
  end, queue)
  if #asked == 0 then
    return
  end
  require('acp.client').execute('acp.permission.pending', nil, function(err, pending)
    if err then
      return
    end
    local waits = {}
    for _, question in ipairs(pending or {}) do
      waits[question.requestId] = true
    end
    for _, key in ipairs(asked) do
      if not waits[key] and not vim.startswith(key, 'message-') then
        withdraw(key)
      end
    end
  end)
end

---The conversation says what became of a question.
---@param block { requestId: string, state: string }
function M.on_state(block)
  if block.state and block.state ~= 'waiting' then
    withdraw(block.requestId or block.id)
  end
end

vim.api.nvim_create_autocmd('CmdlineLeave', {
  group = vim.api.nvim_create_augroup('acp.permission', {}),
  callback = function()
    -- Scheduled: the command that was typed runs first.
    vim.schedule(function()
      changed_under_command = false
    end)
  end,
})

return M
