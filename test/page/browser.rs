//! Headless browser, controlled over two pipes by the Chrome DevTools Protocol: no network, no driver program.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Maximum time for an answer of the browser, on a busy machine.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(120);

/// The browser reads commands from its file 3 and writes answers to its file 4.
const PIPE_COMMAND: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#;

const OPTIONS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
];

/// Browser with one page; it ends when dropped.
pub(crate) struct Browser {
    process: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    session: String,
    num_commands: u64,
    /// Errors and network requests that the page reported.
    pub(crate) complaints: Vec<String>,
    address: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with a window of this size.
    pub(crate) fn start(width: u32, height: u32) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut process = Command::new("sh")
            .args(["-c", PIPE_COMMAND, "chromium"])
            .args(OPTIONS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (commands, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, answers) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|num_bytes| num_bytes > 0) {
                let value = serde_json::from_slice(message.strip_suffix(&[0]).unwrap_or(&message))
                    .expect("the browser answers in JSON");
                if sender.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let (session, address) = (String::new(), String::new());
        let mut browser = Self {
            process,
            commands,
            answers,
            session,
            num_commands: 0,
            complaints: Vec::new(),
            address,
            _profile: profile,
        };
        let target = browser.send_command("Target.createTarget", json!({"url": "about:blank"}));
        let attached =
            browser.send_command("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.send_command(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(width, height);
        browser
    }

    /// Sets the size of the window.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.send_command("Emulation.setDeviceMetricsOverride", size);
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&mut self, path: &std::path::Path) {
        self.open_at(path, "");
    }

    /// Opens a file at a fragment, which begins with `#`, and waits until it is loaded.
    pub(crate) fn open_at(&mut self, path: &std::path::Path, fragment: &str) {
        self.go_to(&format!("file://{}", path.display()), fragment);
    }

    /// Navigates to an empty page, and waits until it is loaded.
    pub(crate) fn leave(&mut self) {
        self.go_to("about:blank", "");
    }

    /// Navigates to an address.
    ///
    /// # Panics
    ///
    /// The page does not load in time. Another navigation may have replaced it.
    fn go_to(&mut self, address: &str, fragment: &str) {
        address.clone_into(&mut self.address);
        self.send_command("Page.navigate", json!({"url": format!("{address}{fragment}")}));
        let started = Instant::now();
        while self.evaluate("document.readyState") != "complete"
            || self.evaluate("location.href.split('#')[0]") != *address
        {
            assert!(started.elapsed() < MAX_ANSWER_TIME, "{address}{fragment} is not loaded after {MAX_ANSWER_TIME:?}");
            thread::sleep(Duration::from_millis(20));
        }
        self.wait_until_drawn();
    }

    /// Sets the color scheme that the system prefers.
    pub(crate) fn prefer_color_scheme(&mut self, scheme: &str) {
        self.send_command(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
        self.wait_until_drawn();
    }

    /// Evaluates an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.send_command(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until the requested content is painted.
    pub(crate) fn wait_until_drawn(&mut self) {
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
    }

    pub(crate) fn hover(&mut self, [x, y]: [f64; 2]) {
        self.mouse("mouseMoved", [x, y], json!({}));
    }

    pub(crate) fn click(&mut self, place: [f64; 2]) {
        self.drag(place, place);
    }

    /// Presses the mouse button at a position, and releases it at another.
    pub(crate) fn drag(&mut self, from: [f64; 2], to: [f64; 2]) {
        let left = || json!({"button": "left", "buttons": 1, "clickCount": 1});
        self.mouse("mouseMoved", from, json!({}));
        self.mouse("mousePressed", from, left());
        if from != to {
            self.mouse("mouseMoved", to, left());
        }
        self.mouse("mouseReleased", to, left());
    }

    pub(crate) fn wheel(&mut self, place: [f64; 2], down: f64) {
        self.mouse("mouseWheel", place, json!({"deltaX": 0, "deltaY": down}));
    }

    /// Presses a key: a letter, or a named key.
    pub(crate) fn key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.send_command("Input.dispatchKeyEvent", json!({"type": kind, "key": key}));
        }
        self.wait_until_drawn();
    }

    fn mouse(&mut self, kind: &str, [x, y]: [f64; 2], more: Value) {
        let mut event = json!({"type": kind, "x": x, "y": y});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.send_command("Input.dispatchMouseEvent", event);
        self.wait_until_handled(kind);
    }

    /// Waits until the page has handled an event: the browser acknowledges a wheel event before that.
    fn wait_until_handled(&mut self, kind: &str) {
        if kind == "mouseWheel" {
            self.wait_until_drawn();
        }
        self.wait_until_drawn();
    }

    /// Sends a message and waits for the answer; other messages are handled meanwhile.
    fn send_command(&mut self, method: &str, parameters: Value) -> Value {
        self.num_commands += 1;
        let id = self.num_commands;
        let mut command = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = self.session.clone().into();
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("`cargo xtask setup` installs chromium");
        loop {
            let message = self
                .answers
                .recv_timeout(MAX_ANSWER_TIME)
                .unwrap_or_else(|error| panic!("no answer to {command}: {error}"));
            if message["id"] == id {
                // A request to a page that was navigated away is repeated.
                if message["error"]["message"] == "Inspected target navigated or closed" {
                    return self.send_command(method, command["params"].clone());
                }
                assert!(message["error"].is_null(), "{command}: {message}");
                return message["result"].clone();
            }
            self.record_event(&message);
        }
    }

    fn record_event(&mut self, event: &Value) {
        let parameters = &event["params"];
        let url = parameters["request"]["url"].as_str().unwrap_or_default();
        let is_complaint = match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => true,
            Some("Runtime.consoleAPICalled") => parameters["type"] == "error" || parameters["type"] == "warning",
            Some("Network.requestWillBeSent") => url != self.address && !url.starts_with("data:"),
            _ => false,
        };
        if is_complaint {
            self.complaints.push(event.to_string());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
