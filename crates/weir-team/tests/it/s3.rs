//! A real server that speaks S3, for tests.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, CompleteMultipartUploadInput, CompleteMultipartUploadOutput,
    CreateMultipartUploadInput, CreateMultipartUploadOutput, DeleteObjectsInput, DeleteObjectsOutput, GetObjectInput,
    GetObjectOutput, HeadObjectInput, HeadObjectOutput, ListObjectsV2Input, ListObjectsV2Output, PutObjectInput,
    PutObjectOutput, Range, UploadPartInput, UploadPartOutput,
};
use s3s::{S3, S3Request, S3Response, S3Result};

/// Objects in a folder. A suffix that is longer than the object is the whole object, as in S3 itself; the file system
/// below fails then.
struct Objects {
    folder: PathBuf,
    files: s3s_fs::FileSystem,
}

impl Objects {
    fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), files: s3s_fs::FileSystem::new(folder).unwrap() }
    }
}

#[async_trait]
impl S3 for Objects {
    async fn get_object(&self, mut request: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        let object = self.folder.join(&request.input.bucket).join(&request.input.key);
        let bytes = object.metadata().map_or(0, |about| about.len());
        if matches!(request.input.range, Some(Range::Suffix { length }) if length > bytes) {
            request.input.range = Some(Range::Int { first: 0, last: None });
        }
        self.files.get_object(request).await
    }

    async fn head_object(&self, request: S3Request<HeadObjectInput>) -> S3Result<S3Response<HeadObjectOutput>> {
        self.files.head_object(request).await
    }

    async fn put_object(&self, request: S3Request<PutObjectInput>) -> S3Result<S3Response<PutObjectOutput>> {
        self.files.put_object(request).await
    }

    async fn delete_objects(
        &self,
        request: S3Request<DeleteObjectsInput>,
    ) -> S3Result<S3Response<DeleteObjectsOutput>> {
        self.files.delete_objects(request).await
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        self.files.list_objects_v2(request).await
    }

    async fn create_multipart_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        self.files.create_multipart_upload(request).await
    }

    async fn upload_part(&self, request: S3Request<UploadPartInput>) -> S3Result<S3Response<UploadPartOutput>> {
        self.files.upload_part(request).await
    }

    async fn complete_multipart_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        self.files.complete_multipart_upload(request).await
    }

    async fn abort_multipart_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        self.files.abort_multipart_upload(request).await
    }
}

/// A store that speaks S3, on a free port of the loopback interface, with a bucket `weir`. It ends with the test.
pub(crate) struct S3Server {
    pub(crate) endpoint: String,
    _runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

impl S3Server {
    pub(crate) fn start(secret: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("weir")).unwrap();
        let mut builder = s3s::service::S3ServiceBuilder::new(Objects::new(folder.path()));
        builder.set_auth(s3s::auth::SimpleAuth::from_single("weir", secret));
        let service = builder.build();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let stream = hyper_util::rt::TokioIo::new(stream);
                tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(stream, service.clone()));
            }
        });
        Self { endpoint, _runtime: runtime, _folder: folder }
    }
}
