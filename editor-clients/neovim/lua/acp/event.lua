local M = {}

---Tells whoever listens: `User` autocommands, as listed in |acp-events|.
---@param name string Without its prefix: `Reveal` becomes `AcpReveal`.
---@param data table
function M.emit(name, data)
  vim.api.nvim_exec_autocmds('User', { pattern = 'Acp' .. name, data = data, modeline = false })
end

return M
