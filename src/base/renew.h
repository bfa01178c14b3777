// Renew: destroys an object and constructs another in its place, for objects that are overwritten often, like
// the slots of a ring. Assignment can cost more (a std::function swaps twice).
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace leeway {

// REQUIRES: the object is not const, nor a base of another; no argument is a part of it.
template <typename T, typename... Args>
void Renew(T& object, Args&&... args) {
  static_assert(std::is_nothrow_constructible_v<T, Args...>, "there would be none in its place");
  std::destroy_at(&object);
  std::construct_at(&object, std::forward<Args>(args)...);
}

}  // namespace leeway
