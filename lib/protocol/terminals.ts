/**
 * What the console's server and its pages say to each other over `/api/terminals/{devbox_id}/{name}`.
 *
 * Binary frames are terminal bytes, both ways, nothing before them. Text frames are one JSON object each, its kind in
 * `t`. Several pages may look at one terminal: one of them writes, the others watch.
 *
 * Offsets count the bytes the shell has printed. A page is at the offset of its last `ready` or `snap` plus the length
 * of every binary frame since that was not a snapshot, so it can say where it stands when it comes back.
 */

/** The query of the upgrade. Everything but the size may be left out. */
export interface TerminalOpening {
  cols: number
  rows: number
  /** The page's own name for itself, kept through reloads: it takes the place of its last connection unasked. */
  client?: string
  /** Where the page stands, to be sent only what came after; both or neither. */
  epoch?: string
  since?: number
  /** How many lines above the screen the page keeps; a snapshot holds no more of them. */
  scrollback?: number
  /** `watch`: wants to look only. Otherwise who comes first, or comes back as the one who wrote, writes. */
  role?: 'watch'
  /**
   * `1`: promises an `ack` for all it is sent, from the first byte on. Who never says one is taken to have read what
   * has left the socket.
   */
  ack?: '1'
}

export type TerminalRequest =
  | { t: 'resize'; cols: number; rows: number }
  /**
   * Bytes the page's terminal has parsed since the last one, snapshots included; one at least for each 64 KiB. What was
   * sent before the last `ready` counts as parsed.
   */
  | { t: 'ack'; n: number }
  /** Answered by a `pong` of the same id at once, however much output waits. */
  | { t: 'ping'; id: number }
  /** Wants to write; whoever did so is told. */
  | { t: 'takeover' }
  /** To the process group in the foreground of the terminal. */
  | { t: 'signal'; signal: string }
  /** Ends all modes that programs have set, for every page that shows the terminal. */
  | { t: 'reset' }
  /** Ends the shell. */
  | { t: 'close' }
  | { t: 'record'; on: boolean }
  /** Makes or revokes the link by which others may watch without signing in. */
  | { t: 'follow'; on: boolean }

/** Someone looking at a terminal. */
export interface TerminalViewer {
  id: string
  /** In words, from its browser: `Chrome on Linux`. */
  name: string
  since_ms: number
  /** Came by a link that only lets watch. */
  follower: boolean
}

/** A place in the log of commands, as the shell marks them (OSC 133). `line` counts from the first line of a snapshot. */
export interface TerminalMark {
  line: number
  /** Cells before it on its line. */
  column: number
  kind: 'prompt' | 'command' | 'output' | 'end'
  /** Of an `end`, when the shell told it. */
  exit_code?: number
  at_ms: number
}

/** How many bytes of input a shell has received, by the service's own count, which outlives the console. */
export interface ShellInput {
  shell: string
  offset: number
}

export type TerminalNotice =
  /** Before the first output, and again when the console came to another shell or lost its place. */
  | {
      t: 'ready'
      /** The shell is a new one, started for this connection. */
      created: boolean
      /** The snapshot that follows has what the last shell had shown, above the new one. */
      has_last_shell?: true
      cols: number
      rows: number
      /** Names this run of the shell as the console saw it; offsets of another are worthless. */
      epoch: string
      offset: number
      /** What comes next: a `snap`, or the bytes after `since`. */
      from: 'snapshot' | 'since'
      role: 'writer' | 'watcher'
      /**
       * On a new connection: how many bytes of this page's input the console has received, over all its connections, and
       * from where the page counts on. Absent when it has received none or forgotten them.
       */
      typed?: number
      /** Instead of `typed`: with it a page that the console has forgotten can find what arrived. */
      input?: ShellInput
    }
  /** The page's input up to `n` bytes has reached the shell, but for what was dropped. */
  | { t: 'typed'; n: number; input?: ShellInput }
  /** Input between two positions was lost on the way to the shell. The service may have received it nonetheless. */
  | { t: 'dropped'; from: number; to: number; may_have_arrived: boolean }
  /**
   * The binary frame that follows, of this length, is no output: a terminal of this size, given it, has the screen,
   * the scrollback and the modes of the real one. It begins with a full reset. The page then stands at `offset`.
   */
  | { t: 'snap'; bytes: number; offset: number; cols: number; rows: number; marks: TerminalMark[] }
  /** The terminal has this size now; whoever watches takes it on. */
  | { t: 'size'; cols: number; rows: number }
  /** After `ready`, and whenever something of it changes. `you` is this page's own id in it. */
  | { t: 'people'; you: string; role: 'writer' | 'watcher'; writer: TerminalViewer | null; viewers: TerminalViewer[] }
  /** This page wrote, and now another does. */
  | { t: 'taken'; by: TerminalViewer }
  /** `upstream_ms`: the last round trip between console and service; null before the first. */
  | { t: 'pong'; id: number; upstream_ms: number | null }
  /** Between console and service. While it is `retrying` nothing typed arrives. */
  | { t: 'state'; upstream: 'live' | 'retrying'; since_ms: number; message?: string }
  /** The shell has ended; `code` is its exit status, when the service tells it. */
  | { t: 'exit'; code: number | null; reason: string }
  | { t: 'problem'; code: string; message: string }
  | { t: 'recording'; id: string | null; since_ms?: number; message?: string }
  /** `path` is to be opened on this console; null when there is no link (any more). */
  | { t: 'follow'; path: string | null; expires_at_ms?: number }

/** Why the console closed a terminal's WebSocket. */
export const terminalClose = {
  shellEnded: 4000,
  signedOut: 4401,
  /** The link to follow by was revoked or has run out. */
  linkEnded: 4403,
  devboxNotFound: 4404,
  /** The same page opened it again, or another program holds the session at the service. */
  takenOver: 4409,
  devboxNotRunning: 4412,
  /** The account shows as many terminals as it may, or this one is looked at by as many; the `problem` before it says which. */
  tooMany: 4429,
  consoleRestarting: 1012,
  /** The service could not be reached or lost the session; the `problem` before it says more. */
  upstreamLost: 1013,
} as const

/** A terminal the console holds open, as `GET /api/terminals/{devbox_id}` lists them. */
export interface HeldTerminal {
  name: string
  title: string
  cols: number
  rows: number
  opened_ms: number
  viewers: TerminalViewer[]
  writer: TerminalViewer | null
  /** When the shell is given up, if nobody comes back; null while someone looks. */
  ends_at_ms: number | null
  recording: string | null
}
