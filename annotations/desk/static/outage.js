// Streamlit covers the page with a dialog when its own connection is gone. The desk works without that connection and
// says itself what is waiting, so the dialog is closed before it is drawn. Other dialogs stay.

const PAGE_DIALOG = '[data-testid="stDialog"]';
const CONNECTION_ERROR = "Connection error"; // before the page translates it

class Outage {
  constructor(desk) {
    this.desk = desk;
    this.watch = new MutationObserver(() => this.look());
    this.watch.observe(document.body, { childList: true, subtree: true });
    this.lost = (event) => event.relatedTarget?.closest?.(PAGE_DIALOG) && (this.focused = event.composedPath()[0]);
    desk.root.addEventListener("focusout", this.lost);
  }

  stop() {
    this.watch.disconnect();
    this.desk.root.removeEventListener("focusout", this.lost);
  }

  // What the desk has typed in keeps its focus: the dialog takes it as it opens.
  look() {
    const dialog = document.querySelector(PAGE_DIALOG);
    if (!dialog) {
      if (this.focused?.isConnected) this.focused.focus({ preventScroll: true });
      this.focused = null;
    } else if (dialog !== this.closed && this.isAboutConnection(dialog)) {
      this.closed = dialog;
      dialog.style.visibility = "hidden";
      dialog.querySelector("button[aria-label]")?.click();
      this.desk.queue.heartbeat(true); // with nothing to send the desk would not know yet
    }
  }

  isAboutConnection(dialog) {
    const titles = [CONNECTION_ERROR, this.desk.t("Connection error")];
    return titles.some((title) => dialog.textContent.includes(title));
  }
}
