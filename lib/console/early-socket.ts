/** A socket nobody listens to yet, and what it has told meanwhile. */
export interface EarlySocket {
  socket: WebSocket
  missed: Event[]
}

export const openEarly = (url: string, WebSocket = globalThis.WebSocket): EarlySocket => {
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  const missed: Event[] = []
  socket.onopen = socket.onmessage = socket.onclose = (event: Event) => void missed.push(event)
  return { socket, missed }
}

/** Has `socket` hear what it missed. */
export const tellAgain = (socket: WebSocket, event: Event): void => {
  if (event.type === 'open') socket.onopen?.(event)
  else if (event.type === 'close') socket.onclose?.(event as CloseEvent)
  else socket.onmessage?.(event as MessageEvent)
}
