// The desk on a page of its own: mounts the component, and offers to finish when nothing is left to judge.
import component from './desk.js'

const place = document.querySelector('#place')
const finish = document.querySelector('#finish')
const root = place.attachShadow({ mode: 'open' })
const NOTHING_LEFT_MS = 4000
let since = null

async function ask() {
  const answer = await fetch(place.dataset.source, { cache: 'no-store', credentials: 'same-origin' })
  // 409: this person labels no more, because of another tab or because of the time; the page says what comes now.
  if (answer.status === 409) location.reload()
  return answer.ok ? answer.json() : null
}

async function refresh() {
  const found = await ask().catch(() => null)
  if (found) component({ data: found.data, parentElement: root, setTriggerValue: refresh })
}

// Nothing is on screen and nothing waits to be sent: all is judged, or the queue has no more for this person.
function look() {
  const desk = root.querySelector('[data-testid=desk]')
  const bar = root.querySelector('[data-part=bar]')
  const calm = desk && !desk.dataset.item && desk.dataset.pending === '0' && bar.hasAttribute('aria-valuenow')
  if (!calm) since = null
  else since ??= Date.now()
  const all = calm && Number(bar.getAttribute('aria-valuenow')) >= Number(bar.getAttribute('aria-valuemax'))
  const over = all || (since !== null && Date.now() - since > NOTHING_LEFT_MS)
  if (finish.hidden === over) {
    finish.hidden = !over
    if (over) finish.querySelector('button').focus()
  }
}

const found = await ask()
if (found) {
  root.innerHTML = found.frame
  component({ data: found.data, parentElement: root, setTriggerValue: refresh })
  setInterval(look, 250)
}
