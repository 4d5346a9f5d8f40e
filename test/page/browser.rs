//! Headless Chromium, controlled by the Chrome DevTools Protocol over two pipes, without a network or a WebDriver.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Timeout for an answer of the browser; long enough for a busy machine.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(120);

/// Shell command that starts the browser with its pipes as file descriptors 3 (commands) and 4 (answers).
const PIPE_COMMAND: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#;

const CHROMIUM_OPTIONS: [&str; 11] = [
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

/// Browser process with one page. Dropping it kills the process.
pub(crate) struct Browser {
    process: Child,
    commands: ChildStdin,
    /// Messages from the browser: answers and events.
    messages: Receiver<Value>,
    session: String,
    /// Number of commands sent, which is the id of the last command.
    num_commands: u64,
    /// Events that a test may treat as failures: errors, warnings and network requests.
    pub(crate) complaints: Vec<String>,
    /// URL of the page, without the fragment.
    url: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with a window of this size.
    pub(crate) fn start(width: u32, height: u32) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut process = Command::new("sh")
            .args(["-c", PIPE_COMMAND, "chromium"])
            .args(CHROMIUM_OPTIONS)
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
            messages: answers,
            session,
            num_commands: 0,
            complaints: Vec::new(),
            url: address,
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
        self.navigate(&format!("file://{}", path.display()), fragment);
    }

    /// Navigates to an empty page, and waits until it is loaded.
    pub(crate) fn leave(&mut self) {
        self.navigate("about:blank", "");
    }

    /// Navigates to an address.
    ///
    /// # Panics
    ///
    /// Panics if the page does not load in time, for example because another navigation replaced it.
    fn navigate(&mut self, address: &str, fragment: &str) {
        address.clone_into(&mut self.url);
        self.send_command("Page.navigate", json!({"url": format!("{address}{fragment}")}));
        let started = Instant::now();
        while self.evaluate("document.readyState") != "complete"
            || self.evaluate("location.href.split('#')[0]") != *address
        {
            assert!(started.elapsed() < MAX_ANSWER_TIME, "{address}{fragment} is not loaded after {MAX_ANSWER_TIME:?}");
            thread::sleep(Duration::from_millis(20));
        }
        self.wait_until_painted();
    }

    /// Emulates the `prefers-color-scheme` setting of the system.
    pub(crate) fn emulate_color_scheme(&mut self, scheme: &str) {
        self.send_command(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
        self.wait_until_painted();
    }

    /// Evaluates a JavaScript expression in the page, and returns its value.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.send_command(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits for two animation frames, so that the current content is painted.
    pub(crate) fn wait_until_painted(&mut self) {
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
    }

    pub(crate) fn hover(&mut self, [x, y]: [f64; 2]) {
        self.dispatch_mouse_event("mouseMoved", [x, y], json!({}));
    }

    pub(crate) fn click(&mut self, position: [f64; 2]) {
        self.drag(position, position);
    }

    /// Presses the mouse button at a position, and releases it at another.
    pub(crate) fn drag(&mut self, from: [f64; 2], to: [f64; 2]) {
        let left_button = || json!({"button": "left", "buttons": 1, "clickCount": 1});
        self.dispatch_mouse_event("mouseMoved", from, json!({}));
        self.dispatch_mouse_event("mousePressed", from, left_button());
        if from != to {
            self.dispatch_mouse_event("mouseMoved", to, left_button());
        }
        self.dispatch_mouse_event("mouseReleased", to, left_button());
    }

    pub(crate) fn scroll(&mut self, position: [f64; 2], down: f64) {
        self.dispatch_mouse_event("mouseWheel", position, json!({"deltaX": 0, "deltaY": down}));
    }

    /// Presses a key: a letter, or a named key.
    pub(crate) fn press_key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.send_command("Input.dispatchKeyEvent", json!({"type": kind, "key": key}));
        }
        self.wait_until_painted();
    }

    fn dispatch_mouse_event(&mut self, kind: &str, [x, y]: [f64; 2], extra: Value) {
        let mut event = json!({"type": kind, "x": x, "y": y});
        event.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        self.send_command("Input.dispatchMouseEvent", event);
        self.wait_until_handled(kind);
    }

    /// Waits until the page has handled an event. A wheel event takes longer: the browser acknowledges it before the
    /// page handles it.
    fn wait_until_handled(&mut self, kind: &str) {
        if kind == "mouseWheel" {
            self.wait_until_painted();
        }
        self.wait_until_painted();
    }

    /// Sends a command and waits for its answer. Records the events that arrive in the meantime.
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
                .messages
                .recv_timeout(MAX_ANSWER_TIME)
                .unwrap_or_else(|error| panic!("no answer to {command}: {error}"));
            if message["id"] == id {
                // A navigation cancels a pending command, so the command is sent again.
                if message["error"]["message"] == "Inspected target navigated or closed" {
                    return self.send_command(method, command["params"].clone());
                }
                assert!(message["error"].is_null(), "{command}: {message}");
                return message["result"].clone();
            }
            self.record_event(&message);
        }
    }

    /// Records an event in `complaints` if it is an error, a warning or a network request.
    fn record_event(&mut self, event: &Value) {
        let parameters = &event["params"];
        let url = parameters["request"]["url"].as_str().unwrap_or_default();
        let is_complaint = match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => true,
            Some("Runtime.consoleAPICalled") => parameters["type"] == "error" || parameters["type"] == "warning",
            Some("Network.requestWillBeSent") => url != self.url && !url.starts_with("data:"),
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
