export const reservedAgentNames: readonly string[] = ['oracle', 'nop', 'command']

/** Names are also used for folders. */
export const isAgentName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)
