/*
 * The independent peer: the switch of Boost.Context, by the cheapest of its interfaces that is installed as a header. boost::context
 * fiber and callcc end in the same two functions. Sanitizers are not told of its switches, so it is not in their builds.
 */
#pragma once

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CORO_WITH_BOOST 1
#include <boost/context/detail/fcontext.hpp>
#endif
