---In which rows of a buffer a hunk is drawn. Rows and lines are 0-based.
local M = {}

---The rows of a hunk's sign.
---@param hunk acp.Hunk
---@param count integer Lines of the buffer.
---@return integer first
---@return integer last
function M.of_sign(hunk, count)
  local last = count - 1
  if hunk.count == 0 then
    -- The sign of what is gone stands under the line above, at the top over the first one.
    local row = math.min(math.max(hunk.first - 1, 0), last)
    return row, row
  end
  local first = math.min(hunk.first, last)
  return first, math.min(hunk.first + hunk.count - 1, last)
end

---The row its virtual lines go to, and whether above it.
---@param hunk acp.Hunk
---@param count integer
---@return integer row
---@return boolean above
function M.of_lines(hunk, count)
  if hunk.proposed and hunk.count > 0 then
    local _, last = M.of_sign(hunk, count)
    return last, false
  elseif hunk.first >= count then
    return count - 1, false
  end
  return hunk.first, true
end

---The hunks of a text in which a lone `\r` ends a line for the sidecar, by Neovim's lines.
---@param buf integer
---@param hunks acp.Hunk[]
---@return acp.Hunk[]
function M.by_neovim(buf, hunks)
  local row_of, line = {}, 0
  for row, text in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    local _, inside = text:gsub('\r', '\r')
    if vim.endswith(text, '\r') then
      inside = inside - 1 -- with what follows one end of a line
    end
    for _ = 0, inside do
      row_of[line] = row - 1
      line = line + 1
    end
  end
  return vim.tbl_map(function(hunk)
    local first = row_of[hunk.first] or row_of[line - 1] + 1
    local last = row_of[hunk.first + hunk.count - 1] or first
    return vim.tbl_extend('force', hunk, {
      first = first,
      count = hunk.count > 0 and math.max(last - first, 0) + 1 or 0,
    })
  end, hunks)
end

return M
