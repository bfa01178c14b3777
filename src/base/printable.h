// Printable: text of a peer, made fit for a log, a terminal, a status or an error message.
//
// A peer chooses its host name, its table names and its error texts. Without this function such a text could
// end a log line and begin a forged one, or send escape sequences to a reader's terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace leeway {

// `text` in one line of valid UTF-8 that moves no cursor. Control characters, bytes that are no UTF-8, line
// separators and marks that reverse the direction of text become escapes (\n, \x1b, \u202e). Text of more
// than `bytes_max` bytes is cut between two characters, and "..." follows. Text that is printable already
// stays as it is.
[[nodiscard]] std::string Printable(std::string_view text, std::size_t bytes_max = 1024);

// The same for text of several lines, as a log has them: a line break that at least two spaces follow stays.
// No text can begin a line at its first column that way.
[[nodiscard]] std::string PrintableLines(std::string_view text, std::size_t bytes_max);

}  // namespace leeway
