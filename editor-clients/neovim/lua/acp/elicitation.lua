---What an agent wants to know: a question like any other, then one field after the other.
---
---Nothing is asked on the command line before the user has gone to the question and chosen to
---fill it in.
local blocks = require('acp.blocks')
local permission = require('acp.permission')
local window = require('acp.question')

local M = {}

---@class acp.Property
---@field type string
---@field title? string
---@field description? string
---@field default? any
---@field enum? string[]
---@field oneOf? { const: string, title: string }[]
---@field items? { enum?: string[], anyOf?: { const: string, title: string }[] }
---@field _meta? { secret?: boolean }

---Withdrawn while they were being filled in.
---@type table<string, true>
local gone = {}

---Calls something that calls back, and waits for that.
---@param start fun(callback: fun(value: any))
---@return any
local function wait(start)
  local thread = assert(coroutine.running())
  start(function(value)
    -- Scheduled: it may call back before it returns.
    vim.schedule(function()
      local resumed, err = coroutine.resume(thread, value)
      if not resumed then
        require('acp.tell').error(tostring(err))
      end
    end)
  end)
  return coroutine.yield()
end

---@param property acp.Property
---@return { value: string, title: string }[]?
local function options(property)
  local titled = property.oneOf or (property.items and property.items.anyOf)
  if titled then
    return vim.tbl_map(function(option)
      return { value = option.const, title = window.plainly(option.title) }
    end, titled)
  end
  local values = property.enum or (property.items and property.items.enum)
  return values
    and vim.tbl_map(function(value)
      return { value = value, title = window.plainly(value) }
    end, values)
end

---@param name string
---@param property acp.Property
---@param required boolean
---@return string
local function label(name, property, required)
  local text = window.plainly(property.title or name):gsub('%s*\n%s*', ' ')
  if property.description then
    text = ('%s (%s)'):format(text, (window.plainly(property.description):gsub('%s*\n%s*', ' ')))
  end
  return required and text or text .. ' [optional]'
end

---A value, nil for a field that is left out. The second result is false where the user gave up.
---@param prompt string
---@param choices { value: any, title: string }[]
---@param required boolean
---@return any value
---@return boolean answered
local function choose(prompt, choices, required)
  local items = vim.list_extend({}, choices)
  if not required then
    items[#items + 1] = { title = '(leave it out)' }
  end
  local chosen = wait(function(callback)
    vim.ui.select(items, {
      prompt = prompt,
      kind = 'acp_elicitation',
      format_item = function(item)
        return item.title
      end,
    }, callback)
  end)
  if chosen == nil then
    return nil, false
  end
  return chosen.value, true
end

---@param prompt string
---@param property acp.Property
---@param required boolean
---@return string[]?
---@return boolean answered
local function choose_several(prompt, property, required)
  local taken = {}
  for _, value in ipairs(property.default or {}) do
    taken[value] = true
  end
  local all = options(property) or {}
  while true do
    local items = vim.tbl_map(function(option)
      local mark = taken[option.value] and '[x] ' or '[ ] '
      return { value = option.value, title = mark .. option.title }
    end, all)
    table.insert(items, 1, { value = true, title = '(that is all)' })
    local value, answered = choose(prompt, items, required)
    if value == nil then
      return nil, answered
    end
    if value == true then
      local found = {}
      for _, option in ipairs(all) do
        if taken[option.value] then
          found[#found + 1] = option.value
        end
      end
      return found, true
    end
    taken[value] = not taken[value] or nil
  end
end

---@param prompt string
---@param property acp.Property
---@param required boolean
---@param before any What was filled in last time.
---@return any
---@return boolean answered
local function type_in(prompt, property, required, before)
  local default = before == nil and property.default or before
  local text
  if property._meta and property._meta.secret then
    text = vim.fn.inputsecret(prompt .. ': ')
    if text == '' then
      return nil, not required
    end
    return text, true
  end
  text = wait(function(callback)
    vim.ui.input({ prompt = prompt .. ': ', default = default ~= nil and tostring(default) or nil }, callback)
  end)
  if text == nil then
    return nil, false
  end
  if text == '' and not required then
    return nil, true
  end
  if property.type == 'number' or property.type == 'integer' then
    return tonumber(text) or text, true
  end
  return text, true
end

---@param name string
---@param property acp.Property
---@param required boolean
---@param before any
---@return any
---@return boolean answered
local function fill_in(name, property, required, before)
  local prompt = label(name, property, required)
  if property.type == 'array' then
    return choose_several(prompt, property, required)
  elseif property.type == 'boolean' then
    local choices = { { value = true, title = 'Yes' }, { value = false, title = 'No' } }
    return choose(prompt, choices, required)
  end
  local choices = options(property)
  if choices then
    return choose(prompt, choices, required)
  end
  return type_in(prompt, property, required, before)
end

local TYPES = { string = true, number = true, integer = true, boolean = true, array = true }

---@param params table
---@return table? content Nil where the user gave up.
local function fill(params)
  local schema = params.requestedSchema or {}
  local properties = schema.properties or {}
  local content, summary = vim.empty_dict(), {}
  for _, name in ipairs(params.fields or {}) do
    local property = properties[name]
    if property and TYPES[property.type] then
      local required = vim.tbl_contains(schema.required or {}, name)
      local before = params.content and params.content[name]
      local value, answered = fill_in(name, property, required, before)
      if not answered then
        return nil
      end
      if value ~= nil then
        content[name] = value
        local secret = property._meta and property._meta.secret
        local shown = type(value) == 'table' and table.concat(value, ', ') or tostring(value)
        summary[#summary + 1] = ('%s: %s'):format(
          window.plainly(property.title or name),
          secret and '***' or window.plainly(shown)
        )
      end
    end
  end
  if #(params.fields or {}) > 1 then
    local prompt = ('Send this? %s'):format(table.concat(summary, ' | '))
    local send, answered = choose(prompt, { { value = true, title = 'Send' } }, true)
    if not answered or not send then
      return nil
    end
  end
  return content
end

local FACTS = { host = 'AcpQuestion', warning = 'AcpFailed' }

---@param params table The params of `acp/elicitation`.
---@return acp.Line[]
local function describe(params)
  local lines = {}
  if params.mode == 'form' then
    window.add(lines, params.message or '')
  end
  for _, fact in ipairs(params.facts or {}) do
    -- The message of a form has lines of its own.
    if params.mode ~= 'form' or fact.kind ~= 'message' then
      window.add(lines, fact.text, FACTS[fact.kind])
    end
  end
  local properties = (params.requestedSchema or {}).properties or {}
  for _, name in ipairs(params.fields or {}) do
    local property = properties[name]
    if property then
      local required = vim.tbl_contains((params.requestedSchema or {}).required or {}, name)
      window.add(lines, '  ' .. label(name, property, required), 'AcpDetail')
    end
  end
  for _, problem in ipairs(params.problems or {}) do
    window.add(lines, ('%s %s'):format(problem.field, problem.message), 'AcpFailed')
  end
  return lines
end

local DECLINE = { id = { action = 'decline' }, title = 'Decline' }
local FILL = { id = 'fill', title = 'Fill it in' }
local OPEN = { id = { action = 'accept' }, title = 'Open the page' }

---@type lsp.Handler
function M.on_elicitation(_, params)
  local key = params.requestId
  gone[key] = nil
  while true do
    local answer = permission.wait_for({
      key = key,
      head = window.plainly(params.headline or 'The agent asks'),
      short = params.short and window.plainly(params.short),
      lines = describe(params),
      options = { DECLINE, params.mode == 'url' and OPEN or FILL },
      diffs = {},
      reply = function() end,
    })
    if answer ~= FILL.id then
      return answer
    end
    local content = fill(params)
    if gone[key] then
      gone[key] = nil
      return vim.NIL
    end
    if content then
      return { action = 'accept', content = content }
    end
  end
end

---Nobody wants an answer to this any more.
---@param key string
function M.withdraw(key)
  gone[key] = true
end

---The lines of a block of the conversation.
---@param block table
---@return acp.Line[]
function M.lines(block)
  local icon = require('acp.config').get().icons.waiting
  local outcome = block.action or block.state or 'waiting'
  local first = blocks.split(block.message or '')[1]
  local lines = { { text = ('%s %s → %s'):format(icon, first, outcome), hl = 'AcpQuestion' } }
  if block.url then
    lines[2] = { text = '  ' .. block.url, hl = 'AcpDetail' }
  end
  return lines
end

return M
