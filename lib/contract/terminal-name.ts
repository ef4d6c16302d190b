/** What a terminal session may be called. */
export const sessionNamePattern = /^[A-Za-z0-9_-]{1,256}$/
