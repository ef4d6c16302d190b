/** Names of agents that mean something without a definition. */
export const reservedAgentNames: readonly string[] = ['oracle', 'nop', 'command']

/** A name is also that of a folder. */
export const isAgentName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)
