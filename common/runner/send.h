// How a runner sends a message to the judge.
#pragma once

#include <sys/socket.h>

#include <cstring>

#include "runner/protocol.h"

namespace lab {

/// False: the judge has hung up.
inline bool send_with_memory(const Reply& reply) {
  iovec content{const_cast<Reply*>(&reply), sizeof reply};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof memory_fd)] = {};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof memory_fd);
  std::memcpy(CMSG_DATA(header), &memory_fd, sizeof memory_fd);
  return sendmsg(channel_fd, &message, MSG_NOSIGNAL) == ssize_t{sizeof reply};
}

}  // namespace lab
