#include "terminal/error_output.h"

#include <cstdio>

namespace leeway::app {

void WriteError(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace leeway::app
