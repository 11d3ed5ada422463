// The runner's end of the judge's channel.
#pragma once

#include <string>

#include "runner/protocol.h"

namespace lab {

/// Waits for the judge's next request. False: the judge has hung up. Replies carry the nonce of the last request.
bool receive(Request& request);

/// Sends one reply; a text that is too long is cut.
void send(Progress progress, Status status = Status::verified, double milliseconds = 0, const std::string& text = "");

/// Sends a JSON document in as many messages as it takes; `finished` follows.
void send_document(const std::string& document);

}  // namespace lab
