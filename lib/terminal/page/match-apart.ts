/** From when on an expression is given up: one of a person's that works takes a few milliseconds. */
const givenUpMs = 2_000

export const tooSlow = 'The expression takes too long: look for less at once'

/**
 * Which of the texts an expression matches, by their places; null when that takes too long, as where a repetition
 * repeats another. It is tried in a thread of its own, since a page that tries such a one never answers again.
 */
export const matchApart = (pattern: RegExp, texts: readonly string[], signal: AbortSignal): Promise<number[] | null> =>
  new Promise((resolve, reject) => {
    const worker = new Worker('/search-worker.js')
    let timer: ReturnType<typeof setTimeout> | undefined
    const end = () => {
      clearTimeout(timer)
      worker.terminate()
    }
    signal.addEventListener('abort', () => {
      end()
      reject(signal.reason)
    })
    worker.onmessage = ({ data }: MessageEvent<'ready' | number[]>) => {
      if (data === 'ready') {
        // Not before: how long a thread takes to begin says nothing of the expression.
        timer = setTimeout(() => {
          end()
          resolve(null)
        }, givenUpMs)
        worker.postMessage({ source: pattern.source, flags: pattern.flags, texts })
        return
      }
      end()
      resolve(data)
    }
    worker.onerror = (event) => {
      end()
      reject(new Error(event.message || 'The page could not begin a search'))
    }
  })
