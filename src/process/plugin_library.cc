#include "process/plugin_library.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "assembly/plugin_registries.h"
#include "base/errors.h"
#include "base/printable.h"

namespace leeway {
namespace {

constexpr const char* kHeadSymbol = "leeway_plugin_head";
constexpr const char* kFunctionSymbol = "leeway_plugin";

// The bytes of another program's library: `standard_library` may hold anything, also no end.
std::string LibraryOf(const PluginHead& head) {
  const std::string_view field(head.standard_library, sizeof(head.standard_library));
  return Printable(field.substr(0, field.find('\0')));
}

// The standard library has one handler of std::terminate, so these words are one too. Set while a library is
// loaded, which is in one thread before anything of a job runs.
const char* library_in_loading = nullptr;

// An exception of a static object's constructor cannot leave dlopen: the process ends. It does so here with
// the exit code of a bad argument instead of an abort.
[[noreturn]] void EndForThrow() {
  std::string what = "something that is no std::exception";
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& thrown) {
    what = thrown.what();
  } catch (...) {
  }
  fmt::print(stderr, "leeway: plug-in \"{}\": it threw while it was loaded: {}\n", library_in_loading,
             Printable(what));
  std::_Exit(ExitCode(Status(StatusCode::kInvalidArgument, "")));
}

void* OpenGuarded(const std::string& path) {
  library_in_loading = path.c_str();
  const std::terminate_handler before = std::set_terminate(EndForThrow);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::set_terminate(before);
  library_in_loading = nullptr;
  return library;
}

Result<void*> Open(const std::string& path) {
  std::error_code error;
  // dlopen would look for a bare name in the system's folders, and wait for the other end of a named pipe.
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  if (error || !std::filesystem::exists(whole, error)) return NotFound("no such file");
  if (!std::filesystem::is_regular_file(whole, error))
    return InvalidArgument("got something else than a file, wanted a shared library");
  if (void* const library = OpenGuarded(whole.string())) return library;
  const char* why = ::dlerror();
  return InvalidArgument("cannot be loaded: {}", why == nullptr ? "dlopen does not say why" : why);
}

Status CheckHead(const PluginHead& head) {
  if (head.version != kPluginVersion) {
    return InvalidArgument(
        "got version {} of the plug-in interface, wanted {}: build it against the headers of this Leeway",
        head.version, kPluginVersion);
  }
  if (const std::string library = LibraryOf(head); library != kPluginStandardLibrary) {
    return InvalidArgument(
        "got the standard library \"{}\", wanted \"{}\": build it as this Leeway was built", library,
        kPluginStandardLibrary);
  }
  return Status::Ok();
}

Status Load(const std::string& path, Policies& policies) {
  LW_ASSIGN_OR_RETURN(void* const library, Open(path));
  // Before any function of it is called: they may expect other arguments.
  const auto* head = static_cast<const PluginHead*>(::dlsym(library, kHeadSymbol));
  if (head == nullptr) {
    return InvalidArgument("is no plug-in: got no symbol {}, which LEEWAY_PLUGIN of leeway/plugin.h defines",
                           kHeadSymbol);
  }
  LW_RETURN_IF_ERROR(CheckHead(*head));
  const auto function = reinterpret_cast<PluginFunction>(::dlsym(library, kFunctionSymbol));
  if (function == nullptr) {
    return InvalidArgument("is no plug-in: got no function {}, which LEEWAY_PLUGIN of leeway/plugin.h begins",
                           kFunctionSymbol);
  }
  return AddPlugin(function, policies);
}

}  // namespace

Status LoadPlugin(const std::string& path, Policies& policies) {
  return Load(path, policies).WithContext(fmt::format("plug-in \"{}\"", Printable(path)));
}

Result<Policies> PoliciesWith(std::span<const std::string> plugins) {
  Policies policies = Policies::Builtin();
  for (const std::string& path : plugins) LW_RETURN_IF_ERROR(LoadPlugin(path, policies));
  return policies;
}

}  // namespace leeway
