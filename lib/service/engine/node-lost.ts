/** The node went away while a devbox started. */
export class NodeLost extends Error {}
