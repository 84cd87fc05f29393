---The agent's questions: which wait, which is asked, what became of them.
local event = require('acp.event')
local tell = require('acp.tell')
local window = require('acp.question')

local M = {}

---@type acp.Question[] The first one is on the screen.
local queue = {}

---The question on the screen changed while a command was being typed: that command was
---meant for the one before.
local changed_under_command = false

---@param params table The params of `acp/permission`.
---@return acp.Line[]
local function describe(params)
  local lines = {}
  local message = params.message or ''
  window.add(lines, message ~= '' and message or (params.title or 'The agent asks for permission'))
  -- The message says all of it; a sidecar that left something out must not hide it.
  local facts = { { 'Kind', params.kind }, { 'Command', params.command }, { 'Folder', params.cwd } }
  for _, path in ipairs(params.paths or {}) do
    facts[#facts + 1] = { 'Path', path }
  end
  for _, fact in ipairs(facts) do
    local name, value = fact[1], fact[2]
    local is_said = name == 'Kind' and message ~= ''
    if value and not is_said and not message:find(value, 1, true) then
      window.add(lines, ('%s: %s'):format(name, value))
    end
  end
  return lines
end

---@param key string
---@return acp.Question?
local function take(key)
  for index, question in ipairs(queue) do
    if question.key == key then
      return table.remove(queue, index)
    end
  end
end

---@param question acp.Question
---@param index integer
local function choose(question, index)
  local option = question.options[index]
  if take(question.key) then
    event.emit('PermissionAnswered', { requestId = question.key, title = option.title })
    M.show()
    question.reply(option.id)
  end
end

---Draws the first question of the queue; closes the window where none waits.
function M.show()
  local question = queue[1]
  if not question or not window.is_shown(question.key) then
    changed_under_command = vim.api.nvim_get_mode().mode:sub(1, 1) == 'c'
    window.close()
  end
  if question then
    local others = vim.tbl_map(function(other)
      return other.short or other.head
    end, vim.list_slice(queue, 2))
    window.show(question, others, function(index)
      choose(question, index)
    end)
  end
  vim.cmd.redrawstatus({ bang = true })
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
end

---Questions that wait, first the one on the screen.
---@return acp.Question[]
function M.waiting()
  return queue
end

---Goes into the window of the question on the screen.
function M.enter()
  if not queue[1] then
    tell.info('no question is waiting')
    return
  end
  if not window.is_shown(queue[1].key) then
    M.show() -- somebody closed its window
  end
  window.enter()
end

---The question a command is meant for: the one on the screen when it was typed.
---@return acp.Question?
local function meant()
  if not queue[1] then
    tell.warn('no question is waiting')
    return nil
  end
  if changed_under_command then
    changed_under_command = false
    tell.warn('the question has changed meanwhile; look again')
    return nil
  end
  return queue[1]
end

---Answers the question on the screen with one of its options, by its title or number.
---@param words string
function M.answer(words)
  local question = meant()
  if not question then
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
  tell.error('the answers are: ' .. table.concat(titles, ', '))
end

---Closes the question on the screen without an answer. That approves nothing.
function M.dismiss()
  local question = meant()
  if question and take(question.key) then
    M.show()
    question.reply(vim.NIL)
  end
end

---@param key string
local function withdraw(key)
  local question = take(key)
  if question then
    event.emit('PermissionWithdrawn', { requestId = key })
    M.show()
    -- Nobody waits for this any more, but the request must not stay open for ever.
    question.reply(vim.NIL)
  end
end

---Closes every question, unanswered: the sidecar is gone.
function M.close_all()
  queue = {}
  window.close()
end

-- What the sidecar sends.

---Suspends the handler until the user has answered. Neovim calls it in a coroutine.
---@param question acp.Question
---@return any
function M.wait_for(question)
  local thread = assert(coroutine.running(), 'a question needs a coroutine to wait in')
  question.reply = function(result)
    -- Scheduled: the answer may come before the handler has begun to wait.
    vim.schedule(function()
      local resumed, err = coroutine.resume(thread, result)
      if not resumed then
        tell.error(tostring(err))
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
      title = window.plainly(option.title or option.name or option.optionId),
      kind = option.kind,
    }
  end, params.options or {})
  return M.wait_for({
    key = params.requestId,
    head = window.plainly(('%s asks: %s'):format(params.agent or 'The agent', params.kind or 'other')),
    short = params.short and window.plainly(params.short),
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
  window.add(lines, params.message or '')
  messages = messages + 1
  return M.wait_for({
    key = 'message-' .. messages,
    head = 'acp-sidecar asks',
    lines = lines,
    options = vim.tbl_map(function(action)
      return { id = action, title = window.plainly(action.title) }
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
  local client = require('acp.client')
  client.execute('acp.permission.pending', nil, function(err, questions)
    if err then
      return
    end
    client.execute('acp.elicitation.pending', nil, function(problem, forms)
      if problem then
        return
      end
      local waits = {}
      for _, question in ipairs(vim.list_extend(questions or {}, forms or {})) do
        waits[question.requestId] = true
      end
      for _, key in ipairs(asked) do
        local ours = vim.startswith(key, 'message-') or vim.startswith(key, 'login-form-')
        if not waits[key] and not ours then
          withdraw(key)
        end
      end
    end)
  end)
end

---The conversation says what became of a question.
---@param block { requestId: string, state: string }
function M.on_state(block)
  if block.state and block.state ~= 'waiting' then
    if block.kind == 'elicitation' then
      require('acp.elicitation').withdraw(block.requestId)
    end
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
