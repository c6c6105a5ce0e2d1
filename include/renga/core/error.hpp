// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace renga {

/// Base of everything renga throws. A message reads "where: what: expected, got; hint"; the prefix
/// "[rank 2/8]" is added once, when `run` prints it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A wrong argument, shape, layout or option; thrown before anything is communicated.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// The command line is wrong; `run` ends with exit code 2.
class UsageError : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// Ranks disagree (operator, order, shape, dtype, seed); thrown on every rank, names both sides.
class Mismatch : public Error {
 public:
  using Error::Error;
};

/// Communication failed: a peer is lost, or the library below reported an error. The communicator
/// it happened on is broken from then on.
class CommunicationError : public Error {
 public:
  using Error::Error;
};

/// A wait passed its limit (`RENGA_TIMEOUT`).
class Timeout : public CommunicationError {
 public:
  using CommunicationError::CommunicationError;
};

/// This build, or this machine, lacks what was asked for.
class NotAvailable : public Error {
 public:
  using Error::Error;
};

/// A file is missing, truncated, corrupt, or cannot be written.
class FileError : public Error {
 public:
  using Error::Error;
};

}  // namespace renga
