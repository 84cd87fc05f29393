---The sidecar as a language server: started once, attached to every file buffer.
local config = require('acp.config')
local event = require('acp.event')
local tell = require('acp.tell')

local M = {}

local NAME = 'acp'
local group = vim.api.nvim_create_augroup('acp.client', {})

---Deaths after which it is not started again: so many within so many milliseconds.
local DEATHS, WITHIN = 4, 180000

---@type integer?
local client_id
---@type number[]
local deaths = {}
---@type fun(client?: vim.lsp.Client)[]
local waiting = {}

---@return vim.lsp.Client?
function M.get()
  local client = client_id and vim.lsp.get_client_by_id(client_id)
  return client and not client:is_stopped() and client or nil
end

---Whether the buffer is a file the sidecar wants to know of.
---@param buf integer
---@return boolean
local function is_file(buf)
  return vim.api.nvim_buf_is_loaded(buf)
    and vim.bo[buf].buftype == ''
    and vim.api.nvim_buf_get_name(buf) ~= ''
end

---@param buf integer
local function attach(buf)
  local client = M.get()
  if client and is_file(buf) then
    vim.lsp.buf_attach_client(buf, client.id)
  end
end

local function attach_all()
  vim.iter(vim.api.nvim_list_bufs()):each(attach)
end

local function capabilities()
  local all = vim.lsp.protocol.make_client_capabilities()
  all.experimental = vim.tbl_extend('force', all.experimental or {}, {
    acpSidecar = {
      transcript = true,
      reveal = true,
      changes = true,
      proposals = true,
      userActivity = true,
      terminals = true,
      -- The answer to a request can wait only where a coroutine can wait inside pcall().
      permission = jit ~= nil,
      elicitation = jit ~= nil,
      openTerminal = jit ~= nil,
      selection = true,
      save = true,
    },
  })
  return all
end

---@return table<string, lsp.Handler>
local function handlers()
  local permission = require('acp.permission')
  return {
    ['acp/transcript'] = require('acp.session').on_transcript,
    ['acp/changes'] = require('acp.session').on_changes,
    ['acp/follow'] = require('acp.session').on_follow,
    ['acp/terminal'] = function(_, params)
      require('acp.terminal').on_terminal(_, params)
    end,
    ['acp/reveal'] = require('acp.reveal').on_reveal,
    ['acp/permission'] = permission.on_permission,
    ['acp/elicitation'] = require('acp.elicitation').on_elicitation,
    ['acp/openTerminal'] = require('acp.login').on_open_terminal,
    ['acp/save'] = require('acp.activity').on_save,
    ['acp/selection'] = require('acp.prompt').on_selection,
    ['window/showMessage'] = tell.on_show_message,
    ['window/showMessageRequest'] = permission.on_message_request,
    ['$/cancelRequest'] = permission.on_cancel_request,
    ['workspace/applyEdit'] = require('acp.activity').on_apply_edit,
  }
end

---@param client? vim.lsp.Client
local function release(client)
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(client)
  end
end

---Forgets everything that lived in the sidecar.
local function forget()
  vim.api.nvim_clear_autocmds({ group = group })
  require('acp.permission').close_all()
  require('acp.session').server_ended()
  require('acp.terminal').forget()
  release(nil)
end

---How the sidecar ended: Neovim's own message of it may need a key to go on.
---@type { code: integer, signal: integer }
local ending = { code = 0, signal = 0 }

---Starts the command so that the end of the process is ours to tell.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@param of table
---@return vim.lsp.rpc.PublicClient
local function spawn(dispatchers, of)
  local on_exit = dispatchers.on_exit
  dispatchers = vim.tbl_extend('force', dispatchers, {
    on_exit = function(code, signal)
      ending = { code = code, signal = signal }
      on_exit(0, 0)
    end,
  })
  local cmd = config.get().cmd
  if type(cmd) == 'function' then
    return cmd(dispatchers, of)
  end
  return vim.lsp.rpc.start(cmd --[[@as string[] ]], dispatchers)
end

---@param id integer
local function ended(id)
  if id ~= client_id then
    return -- its end was asked for
  end
  client_id = nil
  forget()
  event.emit('Exit', ending)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  local now = vim.uv.now()
  deaths = vim.tbl_filter(function(time)
    return now - time < WITHIN
  end, deaths)
  deaths[#deaths + 1] = now
  local how = ending.signal ~= 0 and ('signal %d'):format(ending.signal)
    or ('exit code %d'):format(ending.code)
  if config.get().restart and #deaths < DEATHS then
    tell.warn(('the sidecar ended (%s) and is started again'):format(how))
    M.start()
  else
    tell.error(('the sidecar ended (%s); see :Acp log'):format(how))
  end
end

---Starts the sidecar, where it does not run yet, and attaches every file buffer.
---@return vim.lsp.Client?
function M.start()
  local running = M.get()
  if running then
    return running
  end
  local root = config.root_dir()
  client_id = vim.lsp.start({
    name = NAME,
    cmd = spawn,
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
    init_options = config.init_options(),
    capabilities = capabilities(),
    handlers = handlers(),
    -- What was typed a moment ago is unsaved too: the sidecar must not take the file for clean
    -- and write it on disk, or Neovim will ask before it saves.
    flags = { debounce_text_changes = 0 },
    on_init = function(client)
      if not config.get().review.code_lens then
        -- They would say again, in every line, what signs and virtual lines say.
        client.server_capabilities.codeLensProvider = nil
      end
      release(client)
    end,
    on_exit = vim.schedule_wrap(function(_, _, id)
      ended(id)
    end),
  }, {
    attach = false,
    silent = true,
    reuse_client = function()
      return false
    end,
  })
  if not client_id then
    local cmd = config.get().cmd
    local shown = type(cmd) == 'table' and table.concat(cmd, ' ') or 'the configured function'
    tell.error(('cannot start the sidecar (%s). See :checkhealth acp'):format(shown))
    release(nil)
    return nil
  end
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufWinEnter', 'BufFilePost', 'FileType' }, {
    group = group,
    desc = 'Attach file buffers to the sidecar',
    callback = function(args)
      attach(args.buf)
    end,
  })
  require('acp.activity').watch(group)
  require('acp.drawing').watch(group)
  attach_all()
  return M.get()
end

---Calls back with the client once it is initialized; with nil where it cannot be.
---@param callback fun(client?: vim.lsp.Client)
function M.ready(callback)
  local client = M.start()
  if not client or client.initialized then
    callback(client)
  else
    waiting[#waiting + 1] = callback
  end
end

---Sends a command of the sidecar. Without a callback an error is shown.
---@param command string
---@param argument? table
---@param callback? fun(err?: string, result: any)
function M.execute(command, argument, callback)
  callback = callback or function(err)
    if err then
      tell.error(err)
    end
  end
  M.ready(function(client)
    if not client then
      callback('the sidecar does not run', nil)
      return
    end
    local params = {
      command = command,
      arguments = { argument and next(argument) and argument or vim.empty_dict() },
    }
    local sent = client:request('workspace/executeCommand', params, function(err, result)
      callback(err and (err.message or tostring(err)) or nil, result)
    end)
    if not sent then
      callback('the sidecar has ended', nil)
    end
  end)
end

---@param method string
---@param params table
function M.notify(method, params)
  local client = M.get()
  if client and client.initialized then
    client:notify(method, params)
  end
end

---Ends the sidecar and every agent under it.
function M.stop()
  local client = M.get()
  if client then
    client_id = nil
    forget()
    client:stop()
  end
end

return M
