// The secret stands behind the # of the address, which a browser sends to nobody: no log and no Referer holds it.
const secret = decodeURIComponent(location.hash.slice(1))
const form = document.querySelector('#open')
if (form) {
  form.hidden = !secret
  document.querySelector('#missing').hidden = Boolean(secret)
  document.querySelector('#link').value = secret
}
for (const link of document.querySelectorAll('[data-language]')) link.hash = location.hash
// A second link in the same tab changes only what follows the #, so the browser keeps this page with its form and its
// message. The address without its query is another one, from which the browser loads the page of the new link.
addEventListener('hashchange', () => {
  const address = location.href
  history.replaceState(null, '', location.search ? location.pathname : '?')
  location.replace(address)
})
