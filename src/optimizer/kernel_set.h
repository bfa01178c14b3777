// The vector units that the kernels are compiled for; include it before Highway's headers.
//
// All units that Highway knows, except those whose vectors have no size at compile time (SVE, RVV): the fixed
// lanes of a sum are an array of vectors. ARM processors have NEON as well.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
