/** The node was lost while a devbox started. */
export class NodeLost extends Error {}
