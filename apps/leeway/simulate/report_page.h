// PageHtml: a page document (report/README.md) -> one HTML file that needs no network.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace leeway::app {

// Texts need not be UTF-8; numbers are finite.
[[nodiscard]] std::string PageHtml(const nlohmann::ordered_json& document);

}  // namespace leeway::app
