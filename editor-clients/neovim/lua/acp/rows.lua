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

---The first line of each row of a text in which a lone `\r` ends a line for the sidecar.
---@param buf integer
---@return integer[] # By the row, from 1; one more stands for the end.
local function lines_of_rows(buf)
  local line, starts = 0, {}
  for row, text in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    local _, inside = text:gsub('\r', '\r')
    if vim.endswith(text, '\r') then
      inside = inside - 1 -- with what follows one end of a line
    end
    starts[row] = line
    line = line + inside + 1
  end
  starts[#starts + 1] = line
  return starts
end

---The lines of such a text that some rows show.
---@param buf integer
---@param first integer
---@param last integer
---@return integer first
---@return integer last
function M.of_neovim(buf, first, last)
  local starts = lines_of_rows(buf)
  return starts[first + 1], starts[last + 2] - 1
end

---The hunks of such a text, by Neovim's rows.
---@param buf integer
---@param hunks acp.Hunk[]
---@return acp.Hunk[]
function M.by_neovim(buf, hunks)
  local starts, row_of = lines_of_rows(buf), {}
  local rows = #starts - 1
  for row = 1, rows do
    for line = starts[row], starts[row + 1] - 1 do
      row_of[line] = row - 1
    end
  end
  return vim.tbl_map(function(hunk)
    local first = row_of[hunk.first] or rows
    local last = row_of[hunk.first + hunk.count - 1] or first
    return vim.tbl_extend('force', hunk, {
      first = first,
      count = hunk.count > 0 and math.max(last - first, 0) + 1 or 0,
    })
  end, hunks)
end

return M
