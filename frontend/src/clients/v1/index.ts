// A reference client of /v1. It imports nothing but what lies in this folder, and needs only fetch and
// streams: take the folder as it is.
export { ApiError, Client, type ClientOptions, newKey } from "./client";
export { EventLog, offersRetry } from "./events";
export * from "./protocol.gen";
export type { FollowOptions } from "./stream";
