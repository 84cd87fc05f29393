---A program that the user has to type in: a login.
local tell = require('acp.tell')

local M = {}

---@type lsp.Handler
function M.on_open_terminal(_, params)
  local thread = assert(coroutine.running(), 'a terminal needs a coroutine to wait in')
  local came_from = vim.api.nvim_get_current_win()
  local buf = vim.api.nvim_create_buf(false, true)
  local win = vim.api.nvim_open_win(buf, true, { win = -1, split = 'below', height = 15 })
  vim.w[win].acp = 'login'
  vim.wo[win].winbar = ' ' .. (params.title or 'acp'):gsub('%%', '%%%%')
  local function ended(code)
    vim.schedule(function()
      if code == 0 and vim.api.nvim_win_is_valid(win) then
        local inside = vim.api.nvim_get_current_win() == win
        vim.api.nvim_win_close(win, true)
        if inside and vim.api.nvim_win_is_valid(came_from) then
          vim.api.nvim_set_current_win(came_from)
        end
      end
      local resumed, err = coroutine.resume(thread, { exitCode = code })
      if not resumed then
        tell.error(tostring(err))
      end
    end)
  end
  local command = vim.list_extend({ params.command }, params.args or {})
  local env = params.env and next(params.env) and params.env or nil
  local started, job = pcall(vim.fn.jobstart, command, {
    term = true,
    cwd = params.cwd,
    env = env,
    on_exit = function(_, code)
      ended(code)
    end,
  })
  if not started or job <= 0 then
    vim.api.nvim_win_close(win, true)
    return nil, { code = -32803, message = ('cannot run %s: %s'):format(params.command, tostring(job)) }
  end
  vim.cmd.startinsert()
  return coroutine.yield()
end

return M
