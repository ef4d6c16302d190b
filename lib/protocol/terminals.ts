/**
 * Messages between a page and the console over `/api/terminals/{devbox_id}/{name}`. Binary frames are terminal bytes;
 * text frames are JSON. Several pages can show one terminal: one writes, the others watch. Offsets count the bytes
 * the shell has printed. A page's offset is that of its last `ready` or `snap` plus the binary frames since,
 * snapshots excluded.
 */

/** Query of the upgrade request. Only the size is required. */
export interface TerminalOpening {
  cols: number
  rows: number
  /** The page's id, kept across reloads: a new connection replaces its previous one. */
  client?: string
  /** Resume position; both or neither. */
  epoch?: string
  since?: number
  /** Scrollback lines the page keeps; bounds snapshots. */
  scrollback?: number
  /** `watch`: read-only. Otherwise the first page, or the previous writer, writes. */
  role?: 'watch'
  /** `1`: the page sends `ack` for everything. Without it, bytes that left the socket count as read. */
  ack?: '1'
}

export type TerminalRequest =
  | { t: 'resize'; cols: number; rows: number }
  // Bytes parsed since the last ack, snapshots included, at least every 64 KiB. Data before the last `ready` counts
  // as parsed.
  | { t: 'ack'; n: number }
  /** Triggers a `pong` with the same id, ahead of queued output. */
  | { t: 'ping'; id: number }
  | { t: 'takeover' }
  | { t: 'signal'; signal: string }
  /** Resets modes, colors and character sets for every page, and moves the screen into the scrollback. */
  | { t: 'reset' }
  /** Removes the scrollback on every page; the screen stays. */
  | { t: 'clear_scrollback' }
  | { t: 'close' }
  | { t: 'record'; on: boolean }
  /** Creates or revokes the link for watching without sign-in. */
  | { t: 'follow'; on: boolean }

export interface TerminalViewer {
  id: string
  name: string
  since_ms: number
  /** Joined through a read-only link. */
  follower: boolean
}

/** A command mark of the shell (OSC 133). `line` counts from the first line of a snapshot. */
export interface TerminalMark {
  line: number
  column: number
  kind: 'prompt' | 'command' | 'output' | 'end'
  exit_code?: number
  at_ms: number
}

/** Input bytes the shell has received, counted by the service, which outlives the console. */
export interface ShellInput {
  shell: string
  offset: number
}

export type TerminalNotice =
  /** Sent before the first output, and after a switch to another shell or a lost position. */
  | {
      t: 'ready'
      /** The shell was started for this connection. */
      created: boolean
      /** The next snapshot also shows the previous shell's output. */
      has_last_shell?: true
      cols: number
      rows: number
      /** Identifies this run of the shell; offsets of other runs are invalid. */
      epoch: string
      offset: number
      /** What follows: a `snap`, or the bytes after `since`. */
      from: 'snapshot' | 'since'
      role: 'writer' | 'watcher'
      // Input bytes received from this page over all its connections, and where the page counts on from. Absent if
      // none or unknown.
      typed?: number
      /** Replaces `typed` when the console has restarted: lets the page find what arrived. */
      input?: ShellInput
    }
  /** Input up to byte `n` reached the shell, except what was dropped. */
  | { t: 'typed'; n: number; input?: ShellInput }
  /** Input in this range was lost, though the service may have received it. */
  | { t: 'dropped'; from: number; to: number; may_have_arrived: boolean }
  // The next binary frame, of this length, is a snapshot: it resets a terminal of this size and restores screen,
  // scrollback and modes. The page's offset is then `offset`.
  | { t: 'snap'; bytes: number; offset: number; cols: number; rows: number; marks: TerminalMark[] }
  | { t: 'size'; cols: number; rows: number }
  /** Sent after `ready` and on changes. `you` is this page's id. */
  | { t: 'people'; you: string; role: 'writer' | 'watcher'; writer: TerminalViewer | null; viewers: TerminalViewer[] }
  | { t: 'taken'; by: TerminalViewer }
  /** `upstream_ms`: last round trip to the service; null before the first. */
  | { t: 'pong'; id: number; upstream_ms: number | null }
  /** Connection to the service. Input is lost while `retrying`. */
  | { t: 'state'; upstream: 'live' | 'retrying'; since_ms: number; message?: string }
  /** `code` is the exit status, if reported. */
  | { t: 'exit'; code: number | null; reason: string }
  | { t: 'problem'; code: string; message: string }
  | { t: 'recording'; id: string | null; since_ms?: number; message?: string }
  /** `path` of the watch link; null if there is none. */
  | { t: 'follow'; path: string | null; expires_at_ms?: number }

export const terminalClose = {
  shellEnded: 4000,
  signedOut: 4401,
  linkEnded: 4403,
  devboxNotFound: 4404,
  /** Nobody has opened the terminal, and this person's role may follow but not open one. */
  followOnly: 4405,
  /** The page opened it again, or another program took over the session. */
  takenOver: 4409,
  devboxNotRunning: 4412,
  /** A limit was reached; the preceding `problem` says which. */
  tooMany: 4429,
  consoleRestarting: 1012,
  /** The service is unreachable or lost the session; see the preceding `problem`. */
  upstreamLost: 1013,
} as const

/** An open terminal in `GET /api/terminals/{devbox_id}`. */
export interface HeldTerminal {
  name: string
  title: string
  cols: number
  rows: number
  opened_ms: number
  viewers: TerminalViewer[]
  writer: TerminalViewer | null
  /** When the shell is released if nobody returns; null while it is shown. */
  ends_at_ms: number | null
  recording: string | null
}
