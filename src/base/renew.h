// Renew: a new object in place of an old one. For what is written over and over, like the slots of a ring:
// where a type is dear to assign (a std::function swaps twice), ending the one and making the other is not.
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
